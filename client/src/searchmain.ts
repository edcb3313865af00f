/** Completes what is typed into the search field of a page; without it the field is a plain form. */

import { element } from "./dom";

interface Hit {
  kind: string;
  name: string;
  about: string;
  address: string;
}

const DELAY_MS = 120;

class Search {
  private readonly list = element("ul", { id: "found", role: "listbox", "aria-label": "What is called so", hidden: "" });
  private hits: Hit[] = [];
  private chosen = -1;
  private timer = 0;
  private asked = "";

  constructor(
    private readonly form: HTMLFormElement,
    private readonly field: HTMLInputElement,
    private readonly root: string,
  ) {
    for (const [name, value] of Object.entries({ role: "combobox", "aria-autocomplete": "list", "aria-controls": "found", "aria-expanded": "false" })) field.setAttribute(name, value);
    form.append(this.list);
    field.addEventListener("input", () => {
      window.clearTimeout(this.timer);
      this.timer = window.setTimeout(() => void this.complete(), DELAY_MS);
    });
    field.addEventListener("keydown", (event) => this.press(event));
    field.addEventListener("blur", () => this.show([]));
    // Before the field loses the focus, and with it the list.
    this.list.addEventListener("pointerdown", (event) => event.preventDefault());
    this.list.addEventListener("click", (event) => {
      const option = (event.target as Element).closest("[role=option]");
      if (option) this.open([...this.list.children].indexOf(option));
    });
  }

  private async complete(): Promise<void> {
    const text = this.field.value.trim();
    this.asked = text;
    if (!text) return this.show([]);
    const reply = await fetch(`${this.form.action}.json?${new URLSearchParams({ q: text }).toString()}`).catch(() => undefined);
    // What was typed since has its own answer.
    if (this.asked === text) this.show(reply?.ok ? ((await reply.json()) as Hit[]) : []);
  }

  private show(hits: Hit[]): void {
    this.hits = hits;
    this.list.replaceChildren(...hits.map((hit, place) => element("li", { role: "option", id: `found-${place}`, "aria-selected": "false" }, element("bdi", {}, hit.name), element("small", {}, [hit.kind, hit.about].filter(Boolean).join(" · ")))));
    this.list.hidden = !hits.length;
    this.field.setAttribute("aria-expanded", String(hits.length > 0));
    this.choose(-1);
  }

  private choose(place: number): void {
    this.list.children[this.chosen]?.setAttribute("aria-selected", "false");
    this.chosen = place;
    const option = this.list.children[place];
    option?.setAttribute("aria-selected", "true");
    option?.scrollIntoView({ block: "nearest" });
    if (option) this.field.setAttribute("aria-activedescendant", option.id);
    else this.field.removeAttribute("aria-activedescendant");
  }

  private press(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && this.hits.length) {
      // From -1, where nothing is chosen, to the last.
      const count = this.hits.length + 1;
      this.choose(((this.chosen + 1 + step + count) % count) - 1);
      event.preventDefault();
    } else if (event.key === "Escape" && this.hits.length) {
      this.show([]);
      event.preventDefault();
    } else if (event.key === "Enter" && this.chosen >= 0) {
      this.open(this.chosen);
      event.preventDefault();
    }
  }

  private open(place: number): void {
    const hit = this.hits[place];
    if (hit) location.assign(new URL(hit.address, new URL(this.root, location.href)));
  }
}

const form = document.querySelector<HTMLFormElement>("form.find");
const field = form?.querySelector("input");
if (form && field) new Search(form, field, form.dataset["root"] ?? "./");
