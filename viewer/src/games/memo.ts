import { Component, type FunctionComponent } from "preact";

/** A component that renders again only when one of its properties is another object. */
export function memo<P extends object>(render: (props: P) => preact.VNode): FunctionComponent<P> {
  class Memo extends Component<P> {
    override shouldComponentUpdate(next: P): boolean {
      return (Object.keys(next) as (keyof P)[]).some((name) => next[name] !== this.props[name]);
    }

    override render(): preact.VNode {
      return render(this.props as P);
    }
  }
  return Memo as unknown as FunctionComponent<P>;
}
