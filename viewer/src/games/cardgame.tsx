import type { BoardProps } from "./painter";
import type { Match } from "../match";
import { last } from "./last";
import { type Move, lunge, shake, useMotion } from "./motion";
import { type Key, type Pick, hot } from "./pick";
import { Board as Plain } from "./plain";
import { Art } from "./sprites/cardgame";
import type { Everything, Frames, Hero, Minion, Seen } from "./types/cardgame";

/** One player's side. null if it is hidden. */
interface Side {
  health: number;
  mana: number;
  max_mana: number | null;
  power_used: boolean;
  hand: (number | null)[];
  deck: number[] | null;
  board: Minion[];
}

interface View {
  active: number | null;
  players: [Side, Side];
}

export const scoreName = "health";

export function scores(view: Everything): number[] {
  return view.players.map((side) => side.health);
}

/** The name of a card, which the referee sends. */
function title(match: Match, id: number | null): string {
  if (id === null) return "a card";
  return match.about.pieces[String(id)] ?? `card ${id}`;
}

/** The text on a card besides its name. */
function printed(match: Match, id: number | null): string {
  return id === null ? "" : (match.about.prints[String(id)] ?? "");
}

const [POWER, PLACE, SPELL, ATTACK] = [0, 1, 2, 3];

/** A card of the hand, or a minion of either side, by its place. Heroes have number 0. */
export function targets(answer: Frames["answer"]): Key[] {
  if (answer === null) return [];
  const [action, numbers] = answer;
  const [first, second] = numbers ?? [];
  if (action === POWER) return ["!hero power"];
  if (action === PLACE) return [`hand ${first}`];
  if (action === SPELL) return second === undefined ? [`hand ${first}`] : [`hand ${first}`, `enemy ${second}`];
  if (action === ATTACK) return [`own ${first}`, `enemy ${second}`];
  return ["!end the turn"];
}

/** All except the hero. */
function minions(targets: (Hero | Minion)[]): Minion[] {
  return targets.filter((target) => target.type === "minion");
}

/** Brings a seat's view into the form of the view of everything, without what the seat does not see. */
function shown(seen: Seen, seat: number): View {
  const hidden = { max_mana: null, power_used: false, deck: null };
  const own = { ...hidden, health: seen.hero_health, mana: seen.player_mana, board: minions(seen.player_target) };
  const board = minions(seen.opponent_target);
  const theirs = { ...hidden, health: seen.opponent_health, mana: seen.opponent_mana, board };
  const me: Side = { ...own, hand: seen.player_hand.map((card) => card.id) };
  const rival: Side = { ...theirs, hand: Array<null>(seen.n_opponent_hand).fill(null) };
  return { active: null, players: seat === 0 ? [me, rival] : [rival, me] };
}

/** What is drawn now and one step earlier. */
function drawn(look: BoardProps<Frames>): [View | null, View | null] {
  if (look.seat === null) return [look.view, look.before];
  return [look.view && shown(look.view, look.seat), look.before && shown(look.before, look.seat)];
}

/** An attack: the minion strikes, and what it hits shakes. Places may have shifted if one has died. */
function movement(board: HTMLElement, answers: Record<string, Frames["answer"]>, before: View, view: View): Move[] {
  const [seat, answer] = Object.entries(answers)[0] ?? [];
  if (!answer || answer[0] !== ATTACK) return [];
  const [by, on] = answer[1] ?? [];
  const [mine, theirs] = [Number(seat), 1 - Number(seat)];
  const stays = (side: number) => before.players[side]!.board.length === view.players[side]!.board.length;
  const [attacker, target] = [`${mine}-${by}`, `${theirs}-${on}`].map((piece) =>
    board.querySelector(`[data-piece="${piece}"]`)?.getBoundingClientRect(),
  );
  const moves: Move[] = [];
  if (attacker && target && stays(mine)) {
    const way = [target.x - attacker.x, target.y - attacker.y] as const;
    moves.push({ piece: `${mine}-${by}`, frames: lunge([0, 0], way) });
  }
  if (target && (on === 0 || stays(theirs)))
    moves.push({ piece: `${theirs}-${on}`, frames: shake([0, 0]), begins: 0.45 });
  return moves;
}

export function Board(props: BoardProps<Frames>) {
  const [view, before] = drawn(props);
  const table = useMotion<HTMLDivElement>(props, (board) =>
    view && before ? movement(board, props.step.line.answers ?? {}, before, view) : [],
  );
  if (!view) return <Plain {...props} />;
  return (
    <div ref={table} class="cardgame">
      {([1, 0] as const).map((seat) => (
        <Half
          key={seat}
          seat={seat}
          side={view.players[seat]}
          before={before?.players[seat]}
          acted={seat in (props.step.line.answers ?? {}) ? last(props.step, targets) : undefined}
          active={view.active === seat}
          moving={Boolean(props.motion && before)}
          match={props.match}
          pick={props.pick}
          whose={props.seat === seat ? "own" : "enemy"}
        />
      ))}
    </div>
  );
}

interface HalfProps {
  seat: number;
  side: Side;
  /** The side one step earlier. */
  before: Side | undefined;
  /** What this side's answer names. */
  acted: Set<Key> | undefined;
  active: boolean;
  /** What is new may appear, and what is hurt may say so. */
  moving: boolean;
  match: Match;
  pick: Pick | undefined;
  whose: "own" | "enemy";
}

function labelled(match: Match, id: number | null): string {
  return [title(match, id), printed(match, id)].filter(Boolean).join(" ");
}

/** A minion in the words printed on it, for voice control. */
function standing(match: Match, { id, atk, health, max_health, poisonous }: Minion): string {
  return `${title(match, id)} ${atk} / ${health}${health < max_health ? ` of ${max_health}` : ""}${poisonous ? " poisonous" : ""}`;
}

function kinds(minion: Minion, isNew: boolean | undefined): string {
  return `minion ${minion.can_attack ? "ready" : ""} ${isNew ? "newest" : ""}`;
}

/** A thing on the table. A button if it can be clicked. */
function thing(pick: Pick | undefined, key: Key, label: string, kind: string) {
  const target = hot(pick, key, label);
  return target ? { ...target, class: `${kind} ${target.class}` } : { class: kind };
}

/** The minions that are new or changed. Answers name places, which shift when minions die. */
function changed(board: Minion[], before: Minion[]): boolean[] {
  const what = ({ id, atk, health, max_health, poisonous }: Minion) => [id, atk, health, max_health, poisonous].join();
  if (board.length === before.length) return board.map((minion, index) => what(minion) !== what(before[index]!));
  const left = before.map(what);
  return board.map((minion) => {
    const at = left.indexOf(what(minion));
    if (at >= 0) left.splice(0, at + 1); // the order stays
    return at < 0;
  });
}

/** How health has changed, for a note on a card; undefined if it has not. */
function change(now: number, before: number | undefined): string | undefined {
  if (before === undefined || now === before) return undefined;
  return now < before ? `−${before - now}` : `+${now - before}`;
}

function Half({ seat, side, before, acted, active, moving, match, pick, whose }: HalfProps) {
  const news = before ? changed(side.board, before.board) : [];
  const stays = before?.board.length === side.board.length; // otherwise the places have shifted
  if (stays) news.forEach((_, at) => (news[at] ||= acted?.has(`own ${at + 1}`) ?? false));
  const hit = before && before.health !== side.health ? "newest" : "";
  const mine = whose === "own" ? pick : undefined;
  const hand = (
    <ul class="hand" aria-label={`hand of seat ${seat}`}>
      {side.hand.map((id, index) => (
        <li key={index} style={{ "--turn": index - (side.hand.length - 1) / 2 }}>
          <div
            {...thing(mine, `hand ${index}`, labelled(match, id), id === null ? "card back" : "card")}
            data-cost={/^\d+/.exec(printed(match, id))?.[0]}
          >
            {title(match, id)}
            {printed(match, id) && <small>{printed(match, id)}</small>}
            {id !== null && <Art id={id} />}
          </div>
        </li>
      ))}
    </ul>
  );
  const health = `${side.health} health`;
  const mana = `${side.mana}${side.max_mana === null ? "" : `/${side.max_mana}`} mana${side.power_used ? ", power used" : ""}`;
  const deck = side.deck ? `${side.deck.length} in the deck` : "";
  const hero = `the hero of seat ${seat}: ${[health, mana, deck].filter(Boolean).join(" ")}`;
  return (
    <section class={`half seat-${seat} ${active ? "active" : ""}`} aria-label={`side of seat ${seat}`}>
      {seat === 1 && hand}
      <div class="row">
        <div
          {...thing(pick, `${whose} 0`, hero, `hero ${hit}`)}
          data-piece={`${seat}-0`}
          data-note={moving ? change(side.health, before?.health) : undefined}
        >
          <span class={`mark seat-${seat}`} aria-hidden="true">
            {seat}
          </span>{" "}
          <strong>{side.health}</strong> health
          <br />
          {mana}
          <br />
          {deck}
        </div>
        <ul class="minions" aria-label={`minions of seat ${seat}`}>
          {side.board.map((minion, index) => (
            <li key={index}>
              <div
                {...thing(pick, `${whose} ${index + 1}`, standing(match, minion), kinds(minion, news[index]))}
                data-piece={`${seat}-${index + 1}`}
                data-note={moving && stays ? change(minion.health, before?.board[index]?.health) : undefined}
              >
                <Art id={minion.id} />
                <span>{title(match, minion.id)}</span>
                <span>
                  <b title="attack">{minion.atk}</b> / <b title="health">{minion.health}</b>
                  {minion.health < minion.max_health && <small> of {minion.max_health}</small>}
                  {minion.poisonous && <small> poisonous</small>}
                </span>
              </div>
            </li>
          ))}
        </ul>
      </div>
      {seat === 0 && hand}
    </section>
  );
}
