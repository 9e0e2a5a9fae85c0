require "json"

$stdout.sync = true # flush every answer
FLIP = "(╯°□°)╯︵ ┻━┻"
CELLS = %w[C NW NE SW SE N W E S]

STDIN.each_line do |line|
  message = JSON.parse(line)
  params = message["params"]
  result = nil
  case message["method"]
  when "initialize"
    $board, $flip = {}, false
    result = { name: "ruby tictactoe", reuse: true }
  when "event"
    if params.key?("youAre")
      $me = params["youAre"]
    elsif params.key?("player") # whatever stands beside it is as it was sent
      valid = params["action"] == "putSymbol" && CELLS.include?(params["position"]) && !$board[params["position"]]
      $board[params["position"]] = params["player"] if valid
      $flip = !valid && params["player"] != $me
    end
  when "play"
    free = CELLS.reject { |cell| $board[cell] }
    result = $flip ? { action: FLIP } : { action: "putSymbol", position: free.first }
  when "exit"
    break
  end
  puts JSON.generate({ jsonrpc: "2.0", id: message["id"], result: result }) if message.key?("id")
end
