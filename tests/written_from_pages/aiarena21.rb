require "json"

# Steps to the best neighbouring cell, buys nothing, bids nothing, sends the opponent to the first free cell.
$stdout.sync = true

def free?(map, row, col)
  row.between?(0, map["rows"] - 1) && col.between?(0, map["cols"] - 1) && map["cells"][row][col] != "#"
end

STDIN.each_line do |line|
  message = JSON.parse(line)
  params = message["params"]
  result = nil
  case message["method"]
  when "initialize"
    result = { name: "ruby aiarena21", reuse: true }
  when "play_powerup"
    result = ""
  when "play_turn"
    map, (row, col) = params["game_map"], params["me"]["location"]
    near = [[row, col], [row - 1, col], [row, col + 1], [row + 1, col], [row, col - 1]].select { |at| free?(map, *at) }
    result = near.max_by { |r, c| [params["items"][r][c], params["heatmap"][r][c]] }.join(",")
  when "play_auction"
    result = 0
  when "play_transport"
    map = params["game_map"]
    cells = (0...map["rows"]).to_a.product((0...map["cols"]).to_a)
    result = cells.find { |at| free?(map, *at) }.join(",")
  when "exit"
    break
  end
  puts JSON.generate({ jsonrpc: "2.0", id: message["id"], result: result }) if message.key?("id")
end
