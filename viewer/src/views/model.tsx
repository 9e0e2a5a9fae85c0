import type { Exchange, ModelUse } from "../match";
import type { Player } from "../player";
import { cut, visible } from "./words";

const MOST = 60_000;

/** The tokens of a language model, their cost, and how many of its completions were illegal. */
export function Tokens({ use }: { use: ModelUse }) {
  const { prompt_tokens = 0, completion_tokens = 0, cost, completions = 0, illegal = 0, service_s } = use;
  const parts = [`${grouped(prompt_tokens)} tokens in, ${grouped(completion_tokens)} out`];
  if (cost !== undefined) parts.push(`$${cost.toFixed(cost < 1 ? 4 : 2)}`);
  if (illegal > 0) parts.push(`${grouped(illegal)} of ${grouped(completions)} completions illegal`);
  if (service_s !== undefined) parts.push(`service ${service_s.toFixed(1)} s`);
  return <>{parts.join(", ")}</>;
}

/** The prompts and completions of a call. They may be long, and are rendered when opened. */
export function Transcript({ player, exchanges }: { player: Player; exchanges: Exchange[] }) {
  const shown = player.transcript.value && !player.playing.value;
  return (
    <>
      <dt>prompts</dt>
      <dd>
        <button
          type="button"
          aria-expanded={shown}
          onClick={() => (player.transcript.value = !player.transcript.value)}
        >
          {shown ? "hide" : exchanges.length === 1 ? "prompt and completion" : `${exchanges.length} completions`}
        </button>
        {shown && exchanges.map((each, index) => <Said key={index} exchange={each} />)}
      </dd>
    </>
  );
}

function Said({ exchange: { messages, completion, use, problem } }: { exchange: Exchange }) {
  return (
    <>
      {messages.map(({ role, content }, index) => (
        <div key={index}>
          <small>{visible(role)}</small>
          <pre class="said">{visible(cut(content, MOST))}</pre>
        </div>
      ))}
      <div>
        <small>
          completion: <Tokens use={use} />
        </small>
        <pre class="said">{visible(cut(completion, MOST))}</pre>
        {problem && <p class="bad">refused: {visible(problem)}</p>}
      </div>
    </>
  );
}

function grouped(number: number): string {
  return number.toLocaleString("en");
}
