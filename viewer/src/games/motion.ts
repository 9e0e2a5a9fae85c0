// Movement on the boards. A board always shows its exact position; what moves is added for a moment.

import { useLayoutEffect, useRef } from "preact/hooks";

/** A place in the units of the drawing. */
export type Point = readonly [x: number, y: number];

/** How a piece moves. The piece is the element with this `data-piece`. */
export interface Move {
  piece: string | number;
  frames: Keyframe[];
  /** The turns of its part `.body`. */
  body?: Keyframe[];
  /** When it begins, as a fraction of the time. */
  begins?: number;
}

/** The transform of a piece at a place. */
export function placed([x, y]: Point): string {
  return `translate(${x}px, ${y}px)`;
}

/** Along all points of a way. */
export function along(way: Point[]): Keyframe[] {
  return way.map((point) => ({ transform: placed(point) }));
}

/** Faces the way, and in the end the direction `rests`. Angles are in degrees; 0 is up. */
export function facing(way: Point[], rests: number): Keyframe[] {
  const legs = way.length - 1;
  let last = rests;
  const frames = way.slice(1).flatMap(([x, y], leg) => {
    const [fromX, fromY] = way[leg]!;
    const angle = (Math.atan2(y - fromY, x - fromX) * 180) / Math.PI + 90;
    last += ((angle - last + 540) % 360) - 180; // the shorter way round
    const turned = { transform: `rotate(${last}deg)` };
    return [
      { ...turned, offset: leg / legs },
      { ...turned, offset: (leg + 0.8) / legs },
    ];
  });
  return [...frames, { transform: `rotate(${rests + 360 * Math.round((last - rests) / 360)}deg)`, offset: 1 }];
}

/** Part of the way to a target and back. */
export function lunge([x, y]: Point, [toX, toY]: Point): Keyframe[] {
  const near: Point = [x + (toX - x) * 0.55, y + (toY - y) * 0.55];
  return along([[x, y], near, [x, y]]);
}

/** A blow from the side. */
export function shake([x, y]: Point): Keyframe[] {
  return along([0, 4, -4, 3, 0].map((by) => [x + by, y] as const));
}

/** Along a way, then vanishes and appears elsewhere. */
export function beamed(way: Point[], to: Point): Keyframe[] {
  const walk = along(way).map((frame, at) => ({
    ...frame,
    offset: way.length > 1 ? (at / (way.length - 1)) * 0.4 : 0,
  }));
  const last = way.at(-1)!;
  return [
    ...walk,
    { transform: placed(last), opacity: 1, offset: 0.45 },
    { transform: placed(last), opacity: 0, offset: 0.6 },
    { transform: placed(to), opacity: 0, offset: 0.61 },
    { transform: placed(to), opacity: 1, offset: 1 },
  ];
}

/** Moves pieces when the board goes one step on, in `motion` milliseconds. The next position ends all movement. */
export function useMotion<E extends SVGSVGElement | HTMLElement = SVGSVGElement>(
  { step, motion }: { step: object; motion?: number | undefined },
  moves: (board: E) => Move[],
) {
  const board = useRef<E>(null);
  useLayoutEffect(() => {
    if (!motion || !board.current) return;
    board.current.style.setProperty("--motion", `${motion}ms`);
    const running = moves(board.current).flatMap(({ piece, frames, body, begins = 0 }) => {
      const element = board.current!.querySelector(`[data-piece="${piece}"]`);
      const how = { delay: motion * begins, duration: motion * (1 - begins), easing: "ease-in-out" };
      const part = body && element?.querySelector(".body");
      return [element?.animate(frames, how), part?.animate(body!, { ...how, easing: "linear" })];
    });
    return () => running.forEach((animation) => animation?.cancel());
  }, [step]);
  return board;
}
