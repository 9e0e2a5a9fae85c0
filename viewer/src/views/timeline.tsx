import type { Player } from "../player";
import { Curve } from "./curve";
import { faults, sentence, visible } from "./words";

// The signs on the buttons, as paths in a square of 16.
const BEGINNING = "M3 3h2v10H3zM13 3v10L6 8z";
const BACK = "M11 3v10L4 8z";
export const PLAY = "M4 2v12l9-6z";
const PAUSE = "M4 3h3v10H4zM9 3h3v10H9z";
const ON = "M5 3v10l7-5z";
const ROUND_BACK = "M8 3v10L2 8zM14 3v10L8 8z";
const ROUND_ON = "M2 3v10l6-5zM8 3v10l6-5z";
const END = "M11 3h2v10h-2zM3 3v10l7-5z";
const SLOWER = "M3 7h10v2H3z";
const FASTER = "M3 7h4V3h2v4h4v2H9v4H7V9H3z";

const LEGEND = "captures, deaths and changes of the lead; key h";

export function Timeline({ player }: { player: Player }) {
  const { last } = player;
  const at = player.at.value;
  const tells = !player.stage.value || player.over.value; // marks would tell what will happen
  return (
    <section class="timeline" aria-label="timeline">
      <div class="controls">
        <Button label="to the beginning" sign={BEGINNING} act={() => player.seek(0)} />
        <Button label="a turn back" sign={BACK} act={() => player.move(-1)} />
        <Button
          label={player.playing.value ? "pause" : "play"}
          sign={player.playing.value ? PAUSE : PLAY}
          act={() => player.toggle()}
        />
        <Button label="a turn on" sign={ON} act={() => player.move(1)} />
        <Button label="to the end" sign={END} act={() => player.seek(last)} />
        <span>
          <Button label="slower" sign={SLOWER} act={() => player.faster(-1)} /> ×{player.speed.value}{" "}
          <Button label="faster" sign={FASTER} act={() => player.faster(1)} />
        </span>
        <label>
          turn{" "}
          <input
            id="turn"
            type="number"
            min={0}
            max={last}
            value={at}
            onChange={({ currentTarget }) => {
              if (Number.isNaN(currentTarget.valueAsNumber)) currentTarget.value = String(player.at.value);
              else player.seek(currentTarget.valueAsNumber);
            }}
            onKeyDown={(event) => event.key === "Enter" && event.currentTarget.blur()} // the keys are the page's again
          />{" "}
          of {last}
        </label>
        {player.round(at) !== undefined && (
          <span class="rounds">
            <Button label="a round back" sign={ROUND_BACK} act={() => player.nextRound(true)} /> round{" "}
            {player.round(at)} <Button label="a round on" sign={ROUND_ON} act={() => player.nextRound()} />
          </span>
        )}
        {player.match.about.live && !player.match.closing && (
          <button type="button" aria-pressed={player.following.value} onClick={() => player.newest()}>
            live
          </button>
        )}
        <MatchControls player={player} />
        {tells && player.faults.value.length > 0 && (
          <button type="button" onClick={() => player.nextFault()}>
            next fault ({player.faults.value.length})
          </button>
        )}
        {tells && player.highlights.value.length > 0 && (
          <button type="button" title={LEGEND} onClick={() => player.nextHighlight()}>
            next highlight ({player.highlights.value.length})
          </button>
        )}
      </div>
      <div class="track">
        <input
          type="range"
          min={0}
          max={last}
          value={at}
          aria-label="turn"
          aria-valuetext={sentence(player.match, at)}
          onInput={(event) => player.seek(Number(event.currentTarget.value))}
        />
        <svg viewBox={`0 0 ${Math.max(1, last)} 1`} preserveAspectRatio="none" aria-hidden="true">
          {(tells ? player.highlights.value : []).map(({ at, kind, words }, index) => (
            <Mark key={`+${index}`} player={player} kind={kind} at={at} top={0.5} words={words} />
          ))}
          {(tells ? player.faults.value : []).map((at) => (
            <Mark key={at} player={player} kind="fault" at={at} top={0} words={faults(player.match, at)} />
          ))}
        </svg>
      </div>
      {tells && <Curve player={player} />}
    </section>
  );
}

/** A mark on the track, which says what happened there and goes there. */
function Mark(props: { player: Player; kind: string; at: number; top: number; words: string }) {
  const { player, kind, at, top, words } = props;
  return (
    <line
      class={kind}
      x1={at}
      x2={at}
      y1={top}
      y2={1}
      vector-effect="non-scaling-stroke"
      onClick={() => player.jump(at)}
    >
      <title>
        turn {at}: {visible(words)}
      </title>
    </line>
  );
}

/** Pauses, steps and stops the running match, between turns. */
function MatchControls({ player }: { player: Player }) {
  const live = player.live.value;
  if (!live?.steers || live.over || player.match.closing || player.lost.value) return null;
  const label = player.stands ? "Resume" : "Pause";
  return (
    <span class="steering" role="group" aria-label="the running match">
      <button
        type="button"
        aria-label={`${label} the match`}
        onClick={() => player.steer(player.stands ? "play" : "pause")}
      >
        {label}
      </button>
      <button type="button" aria-label="Step the match" disabled={!player.stands} onClick={() => player.steer("step")}>
        Step
      </button>
      <button type="button" aria-label="Stop the match" onClick={() => player.steer("stop")}>
        Stop
      </button>
    </span>
  );
}

function Button({ label, sign, act }: { label: string; sign: string; act: () => void }) {
  return (
    <button type="button" aria-label={label} title={label} onClick={act}>
      <svg viewBox="0 0 16 16" class="icon" aria-hidden="true">
        <path d={sign} />
      </svg>
    </button>
  );
}
