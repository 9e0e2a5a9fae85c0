require "json"
require "set"

# Runs for its goal row by the shortest way and puts no walls. The board is kept from the events (rules A3, A5, A6).
$stdout.sync = true
FLIP = "(╯°□°)╯︵ ┻━┻"
STEPS = [[0, 1], [1, 0], [0, -1], [-1, 0]]

def square(name) = [name[0].downcase.ord - 97, name[1].to_i - 1]
def name(square) = "#{(97 + square[0]).chr}#{square[1] + 1}"

def wall(position)
  x, y = square(position)
  pairs = position[2] == "h" ? [[[x, y], [x, y + 1]], [[x + 1, y], [x + 1, y + 1]]] : [[[x, y], [x + 1, y]], [[x, y + 1], [x + 1, y + 1]]]
  pairs.each { |pair| $walls << pair << pair.reverse }
end

def open?(from, step)
  to = [from[0] + step[0], from[1] + step[1]]
  to if to.all? { |at| at.between?(0, 8) } && !$walls.include?([from, to])
end

def targets(from, rival)
  STEPS.flat_map do |step|
    to = open?(from, step)
    next [] unless to
    next [to] if to != rival
    over = open?(rival, step)
    next [over] if over
    STEPS.select { |side| side[0] * step[0] + side[1] * step[1] == 0 }.filter_map { |side| open?(rival, side) }
  end
end

def distance(from, goal)
  seen, ring, steps = Set[from], [from], 0
  until ring.empty?
    return steps if ring.any? { |at| at[1] == goal }
    ring = ring.flat_map { |at| STEPS.filter_map { |step| open?(at, step) } }.select { |at| seen.add?(at) }
    steps += 1
  end
  99
end

STDIN.each_line do |line|
  message = JSON.parse(line)
  params = message["params"]
  result = nil
  case message["method"]
  when "initialize"
    $walls, $pawns, $flip = Set[], { "first" => [4, 0], "second" => [4, 8] }, false
    result = { name: "ruby quoridor", reuse: true }
  when "event"
    if params.key?("youAre")
      $me = params["youAre"]
      $rival = $me == "first" ? "second" : "first"
    elsif params.key?("player")
      position, who = params["position"], params["player"]
      if params["action"] == "move" && position.to_s =~ /\A[a-i][1-9]\z/i
        $pawns[who] = square(position)
      elsif params["action"] == "putWall" && position.to_s =~ /\A[a-h][1-8][hv]\z/i
        wall(position)
      else
        $flip = who == $rival
      end
    end
  when "play"
    goal = $me == "first" ? 8 : 0
    best = targets($pawns[$me], $pawns[$rival]).min_by { |at| distance(at, goal) }
    result = $flip ? { action: FLIP } : { action: "move", position: name(best) }
  when "exit"
    break
  end
  puts JSON.generate({ jsonrpc: "2.0", id: message["id"], result: result }) if message.key?("id")
end
