/** Completes what is typed into the search field of a page: by asking the server, or by the site's index of names where there is none. */

import { element } from "./dom";
import { found, type Hit, type Names, namesAt } from "./names";

const DELAY_MS = 120;
/** Kinds that people call otherwise. */
const KINDS: Record<string, string> = { target: "storage target", filesystem: "file system" };

class Search {
  private readonly list = element("ul", { id: "found", role: "listbox", "aria-label": "What is called so", hidden: "" });
  private readonly said = element("p", { class: "said", role: "status" });
  private hits: Hit[] = [];
  private chosen = -1;
  private timer = 0;
  private asked = "";
  private names: Promise<Names> | undefined;

  constructor(
    private readonly form: HTMLFormElement,
    private readonly field: HTMLInputElement,
    private readonly root: string,
    /** The address of the index of names; undefined where a server answers. */
    private readonly index: string | undefined,
  ) {
    for (const [name, value] of Object.entries({ role: "combobox", "aria-autocomplete": "list", "aria-controls": "found", "aria-expanded": "false" })) field.setAttribute(name, value);
    form.append(this.list, this.said);
    // Without this script such a field does nothing.
    form.hidden = false;
    field.addEventListener("input", () => {
      window.clearTimeout(this.timer);
      this.timer = window.setTimeout(() => void this.complete(), DELAY_MS);
    });
    field.addEventListener("keydown", (event) => this.press(event));
    field.addEventListener("blur", () => this.show([]));
    if (index !== undefined) form.addEventListener("submit", (event) => void this.submit(event));
    // Before the field loses the focus, and with it the list.
    this.list.addEventListener("pointerdown", (event) => event.preventDefault());
    this.list.addEventListener("click", (event) => {
      const option = (event.target as Element).closest("[role=option]");
      if (option) this.open(this.hits[[...this.list.children].indexOf(option)]);
    });
  }

  /** Opens the page of what an address names, such as `#user=ada`, or shows what is called so. */
  async follow(hash: string): Promise<void> {
    const [wanted] = new URLSearchParams(hash.slice(1));
    const [kind = "", name] = wanted ?? [];
    if (!name) return;
    const hit = (await this.ask(name)).find((each) => each.kind === kind && each.name === name);
    if (hit) return location.replace(this.addressOf(hit));
    this.field.value = name;
    this.field.focus();
    await this.complete();
  }

  private async complete(): Promise<void> {
    const text = this.field.value.trim();
    this.asked = text;
    const hits = text ? await this.ask(text) : [];
    // What was typed since has its own answer.
    if (this.asked !== text) return;
    this.show(hits);
    this.said.textContent = text && !hits.length && this.index !== undefined ? "No page of this site is about anything called so." : "";
  }

  private async ask(text: string): Promise<Hit[]> {
    if (this.index !== undefined) return found(await (this.names ??= namesAt(this.index).catch(() => ({}))), text);
    const reply = await fetch(`${this.form.action}.json?${new URLSearchParams({ q: text }).toString()}`).catch(() => undefined);
    return reply?.ok ? ((await reply.json()) as Hit[]) : [];
  }

  private async submit(event: Event): Promise<void> {
    event.preventDefault();
    await this.complete();
    this.open(this.hits[0]);
  }

  private show(hits: Hit[]): void {
    this.hits = hits;
    this.list.replaceChildren(...hits.map((hit, place) => element("li", { role: "option", id: `found-${place}`, "aria-selected": "false" }, element("bdi", {}, hit.name), element("small", {}, [KINDS[hit.kind] ?? hit.kind, hit.about].filter(Boolean).join(" · ")))));
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
      this.open(this.hits[this.chosen]);
      event.preventDefault();
    }
  }

  private open(hit: Hit | undefined): void {
    if (hit) location.assign(this.addressOf(hit));
  }

  private addressOf(hit: Hit): URL {
    return new URL(hit.address, new URL(this.root, location.href));
  }
}

const form = document.querySelector<HTMLFormElement>("form.find");
const field = form?.querySelector("input");
if (form && field) {
  const search = new Search(form, field, form.dataset["root"] ?? "./", form.dataset["names"]);
  // Other pages keep what was chosen on them in their address.
  if (form.dataset["follows"] !== undefined) void search.follow(location.hash);
}
