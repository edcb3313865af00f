/** Has somebody choose the circles of a run's picture, and gets the data of what they choose. */

import { keep } from "./address";
import { read, unpacked } from "./blocks";
import { type Asked, ASKED, button, choice, element, table } from "./dom";
import { layerName } from "./fields";
import { bytes, seconds, whole } from "./format";
import { countedRequests, type Moved, movedOf, type RankMoved, type Requests } from "./moved";
import type { Kind, RadialData } from "./radialdata";
import { Rings, WORDS } from "./radialrings";

/** Names in the address. */
const NAMES = ["rings", "arc"];
const NO_CIRCLE = "";
const PLACES = ["Outside", "Middle", "Inside"];

/** What is chosen: circles from outside in, and an arc of which the single ranks are shown. */
interface Chosen {
  kinds: Kind[];
  arc: number | undefined;
}

export class RingChoice {
  readonly box = element("div", { class: "controls" });
  readonly note = element("p", { class: "hint" });
  /** What is kept of the single ranks of an arc. */
  readonly ranks = element("div");
  private readonly rings: Rings;
  private readonly requests: NonNullable<Asked<Requests>["requests"]>;
  private readonly counted = new Map<string, Promise<Moved>>();
  private hasRequests = false;
  private chosen: Chosen;
  /** What was asked for last: an answer that comes after another question is not shown. */
  private asked = 0;

  /**
   * @param base what the page holds
   * @param log whose it is; empty where no server can be asked
   * @param show shows other data
   */
  constructor(
    private readonly base: RadialData,
    private readonly log: string,
    private readonly show: (data: RadialData) => void,
  ) {
    this.rings = new Rings(base);
    this.chosen = { kinds: this.rings.usual, arc: undefined };
    const detail: Asked<Requests> = {};
    document.dispatchEvent(new CustomEvent(ASKED, { detail }));
    this.requests = detail.requests ?? Promise.resolve(undefined);
  }

  /** Shows what the address asks for. */
  async begin(): Promise<void> {
    this.update("");
    this.hasRequests = (await this.requests) !== undefined;
    window.addEventListener("hashchange", () => this.read());
    this.update("");
    this.read();
  }

  /** The page's own circles, or others where the requests for these can be had. */
  async named(kinds?: Kind[]): Promise<void> {
    await this.usual();
    if (kinds && (this.hasRequests || this.mayAsk)) await this.choose({ kinds, arc: undefined });
  }

  private async usual(): Promise<void> {
    await this.choose({ kinds: this.rings.usual, arc: undefined });
  }

  /** What opens an arc of the outermost circle, where that is of several ranks. */
  opener(arc: number): HTMLElement | undefined {
    const ranks = this.chosen.arc === undefined && this.chosen.kinds[0] === "rank" ? this.rings.ranksOf(arc) : undefined;
    if (!ranks) return undefined;
    const text = `Open ranks ${whole(ranks[0])} to ${whole(ranks[1])}`;
    return button(text, "Show each of these ranks by itself", () => void this.choose({ kinds: this.fitting(this.chosen.kinds, arc), arc }));
  }

  /** The same circles as far as they can be of the single ranks of an arc. */
  private fitting(kinds: Kind[], arc: number): Kind[] {
    const can = this.rings.kinds(arc);
    const found = kinds.map((kind) => (can.includes(kind) ? kind : kind === "carrier" ? "host" : "ost")).filter((kind) => can.includes(kind));
    const distinct = [...new Set<Kind>(["rank", ...found])];
    return distinct.length > 1 ? distinct.slice(0, 3) : ["rank", "file"];
  }

  private read(): void {
    const asked = new URLSearchParams(location.hash.slice(1));
    const arc = asked.has("arc") && this.rings.ranksOf(Number(asked.get("arc"))) ? Number(asked.get("arc")) : undefined;
    const can = this.offered(arc);
    const kinds = [...new Set((asked.get("rings") ?? "").split(","))].filter((kind) => can.includes(kind as Kind)) as Kind[];
    if (kinds.length === 2 || kinds.length === 3) void this.choose({ kinds, arc });
    // Other parts of an address are findings and headings.
    else if (asked.has("rings")) void this.usual();
  }

  private write(): void {
    const { kinds, arc } = this.chosen;
    const isUsual = arc === undefined && kinds.join() === this.rings.usual.join();
    const rings: [string, string][] = isUsual ? [] : [["rings", kinds.join()]];
    keep("", NAMES, new Map(arc === undefined ? rings : [...rings, ["arc", String(arc)]]));
  }

  /** Kinds that this page, or who may be asked, can have. */
  private offered(arc: number | undefined): Kind[] {
    const can = this.rings.kinds(arc);
    const isWhole = this.hasRequests || this.mayAsk;
    return isWhole ? can : can.filter((kind) => (kind !== "mount" && kind !== "file") || this.rings.usual.includes(kind));
  }

  private get mayAsk(): boolean {
    return this.log !== "" && location.protocol.startsWith("http");
  }

  private async choose(chosen: Chosen): Promise<void> {
    const asked = ++this.asked;
    try {
      const moved = this.rings.requested(chosen.kinds, chosen.arc).length ? await this.moved(chosen) : undefined;
      if (asked !== this.asked) return;
      this.chosen = chosen;
      this.write();
      this.update(moved ? this.sayMoved(moved) : "");
      this.ranks.replaceChildren(...(moved?.ranks.length ? [this.tableOf(moved.ranks)] : []));
      this.show(this.rings.data(chosen.kinds, moved, chosen.arc));
    } catch (error) {
      if (asked === this.asked) this.update(error instanceof Error ? error.message : String(error));
    }
  }

  /** Requests of the page, or as the server counts them. */
  private moved({ kinds, arc }: Chosen): Promise<Moved> {
    const key = this.hasRequests ? `${arc}` : `${[...kinds].sort().join()} ${arc}`;
    let found = this.counted.get(key);
    if (!found) {
      this.counted.set(key, (found = this.hasRequests ? this.own(arc) : this.served(kinds, arc)));
      found.catch(() => this.counted.delete(key));
    }
    return found;
  }

  private async own(arc: number | undefined): Promise<Moved> {
    const { metrics, time } = this.base.about;
    const ranks = arc === undefined ? undefined : this.rings.ranksOf(arc)!;
    const load = (await this.requests)!;
    return countedRequests(await load(), metrics, time, (rank) => !ranks || (rank >= ranks[0] && rank <= ranks[1]));
  }

  private async served(kinds: Kind[], arc: number | undefined): Promise<Moved> {
    const lack = "This page does not hold the single requests of so long a trace, of which these edges are: open the report in `iomine serve`";
    if (!this.mayAsk) throw new Error(`${lack}.`);
    const { bins, begin, width } = this.base.about.time;
    const ranks = arc === undefined ? undefined : this.rings.ranksOf(arc)!;
    const asked = new URLSearchParams({ by: kinds.join(), bins: String(bins), begin: String(begin), width: String(width) });
    if (ranks) [["first_rank", ranks[0]], ["last_rank", ranks[1]]].forEach(([name, rank]) => asked.set(String(name), String(rank)));
    const answer = await fetch(`../rings/${this.log}?${asked}`);
    const text = await answer.text();
    const isOurs = answer.headers.get("content-type")?.startsWith("text/plain");
    if (!answer.ok || !isOurs) throw new Error(isOurs ? text : `${lack}; this server has none.`);
    return movedOf(read(await unpacked(Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0)))));
  }

  private tableOf(ranks: RankMoved[]): HTMLElement {
    const { circles, ops } = this.base.about;
    const rows = ranks.map(({ rank, host, ring, op, request_count: count, moved_bytes: moved, latency_seconds: latency }) => [
      ...[`rank ${rank}`, host ?? "not known", `${ops[op]!} to ${circles[ring + 1]!.many}`],
      ...[count === null ? "not known" : whole(count), moved === null ? "not known" : bytes(moved), latency === null ? "not known" : seconds(latency)],
    ]);
    const caption = "What single ranks asked their carriers for, and moved themselves: in each direction the slowest first";
    return element(
      "details",
      {},
      element("summary", {}, "Single ranks as a table"),
      element("div", { class: "scroll" }, table(caption, ["Rank", "Host", "What", "Requests", "Bytes", "Median latency"], rows)),
    );
  }

  private sayMoved({ layer, lack }: Moved): string {
    const { kinds, arc } = this.chosen;
    if (lack) return lack;
    const ranks = arc === undefined ? undefined : this.rings.ranksOf(arc);
    const ofRanks = ranks ? ` of ranks ${whole(ranks[0])} to ${whole(ranks[1])}` : "";
    const onOsts = kinds.includes("ost") || kinds.includes("oss") ? " A request counts for the OST of its first byte." : "";
    const carried = ranks && this.rings.usual.includes("carrier") ? " Who carried what a single rank asked for is not kept." : "";
    const edges = this.rings.requested(kinds, arc).map(([from, to]) => `from ${WORDS[from][1]} to ${WORDS[to][1]}`);
    return `Edges ${edges.join(" and ")} are requests of ${layerName(layer)}${ofRanks}; their latency is the time that each took.${onOsts}${carried}`;
  }

  private update(said: string): void {
    const { arc, kinds } = this.chosen;
    const can = this.offered(arc);
    const own: (Kind | undefined)[] = kinds.length === 2 ? [kinds[0], undefined, kinds[1]] : kinds;
    const selects = PLACES.map((place, at) => {
      const options = (arc !== undefined && !at ? (["rank"] as Kind[]) : can).map((kind): [string, string] => [kind, WORDS[kind][1]]);
      const made = choice(place, [...(at === 1 ? [[NO_CIRCLE, "nothing"] as [string, string]] : []), ...options], (value) => this.place(own, at, value as Kind | ""));
      made.select.value = own[at] ?? NO_CIRCLE;
      return made.box;
    });
    const back = arc === undefined ? [] : [button("All ranks", "Close the arc that was opened", () => void this.usual())];
    const focused = [...this.box.querySelectorAll("select")].indexOf(document.activeElement as HTMLSelectElement);
    this.box.replaceChildren(...selects, ...back);
    this.box.querySelectorAll("select")[focused]?.focus();
    this.note.textContent = [said, ...this.lacks(can)].filter(Boolean).join(" ");
  }

  /** What cannot be chosen, and why. */
  private lacks(can: Kind[]): string[] {
    const isOst = can.includes("ost") && !this.rings.knowsServers;
    return [
      ...(isOst ? ["It is not known which servers the OSTs are on, so OSSs cannot be chosen."] : []),
      ...(can.includes("file") ? [] : ["Files and mounts can be chosen where the report is open in `iomine serve`."]),
    ];
  }

  /** Puts a kind in a place; what was there goes where the kind was. */
  private place(own: (Kind | undefined)[], at: number, kind: Kind | ""): void {
    const changed = own.map((each) => (each !== undefined && each === kind ? own[at] : each));
    changed[at] = kind || undefined;
    const kinds = changed.filter((each) => each !== undefined);
    void this.choose({ ...this.chosen, kinds });
  }
}
