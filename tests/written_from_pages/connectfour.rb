require "json"

$stdout.sync = true
FLIP = "(╯°□°)╯︵ ┻━┻"
COLUMNS = %w[D C E B F A G]
ROWS = 6

STDIN.each_line do |line|
  message = JSON.parse(line)
  params = message["params"]
  result = nil
  case message["method"]
  when "initialize"
    $height, $flip = Hash.new(0), false
    result = { name: "ruby connectfour", reuse: true }
  when "event"
    if params.key?("youAre")
      $me = params["youAre"]
    elsif params.key?("player")
      column = params["column"]
      valid = params["action"] == "putToken" && COLUMNS.include?(column) && $height[column] < ROWS
      $height[column] += 1 if valid
      $flip = !valid && params["player"] != $me
    end
  when "play"
    open = COLUMNS.find { |column| $height[column] < ROWS }
    result = $flip ? { action: FLIP } : { action: "putToken", column: open }
  when "exit"
    break
  end
  puts JSON.generate({ jsonrpc: "2.0", id: message["id"], result: result }) if message.key?("id")
end
