/** A box beside the pointer with the fields of the row under it. */

import { element } from "./dom";

const GAP = 14;

export class Tip {
  constructor(private readonly box: HTMLElement) {}

  show(lines: [string, string][], at: { x: number; y: number }, width: number): void {
    const list = element("dl");
    for (const [label, text] of lines) list.append(element("dt", {}, label), element("dd", {}, text));
    this.box.replaceChildren(list);
    this.box.hidden = false;
    const isLeft = at.x + GAP + this.box.offsetWidth > width;
    this.box.style.left = `${Math.max(isLeft ? at.x - GAP - this.box.offsetWidth : at.x + GAP, 0)}px`;
    this.box.style.top = `${at.y + GAP}px`;
  }

  hide(): void {
    this.box.hidden = true;
  }
}
