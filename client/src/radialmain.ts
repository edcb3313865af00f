/** Starts the radial picture in each element of the page that names its block. */

import { held, read, unpacked } from "./blocks";
import { type Asked, ASKED } from "./dom";
import { RadialPage } from "./radial";
import { type Kind, RadialData } from "./radialdata";

async function show(place: HTMLElement): Promise<void> {
  const packed = held(place.dataset["block"] ?? "");
  if (!packed) throw new Error("its data are missing. Copy all files, not only the page.");
  // The trace stands above: it is drawn first, and both take longer at once.
  const trace: Asked<unknown> = {};
  document.dispatchEvent(new CustomEvent(ASKED, { detail: trace }));
  await trace.requests;
  const page = new RadialPage(place, RadialData.of(read(await unpacked(packed))));
  await page.begin();
  place.dataset["ready"] = String(Math.round(performance.now()));
  // A click on an element that names nodes, anywhere in the page, lights their edges.
  document.addEventListener("click", (event) => {
    const named = (event.target as Element).closest<HTMLElement>("[data-nodes]")?.dataset;
    if (named) void page.lightNamed(named["nodes"]!.split(" "), named["op"], named["metric"], named["rings"]?.split(",") as Kind[] | undefined);
  });
}

function start(place: HTMLElement): void {
  show(place).catch((error: unknown) => place.append(`The circle cannot be shown: ${error instanceof Error ? error.message : String(error)}`));
}

/** Draws what is in sight; what is folded is drawn when it is opened, which an address that chooses circles does. */
function begin(): void {
  const isChosen = new URLSearchParams(location.hash.slice(1)).has("rings");
  for (const place of document.querySelectorAll<HTMLElement>(".radial[data-block]")) {
    const fold = place.closest("details");
    if (fold && isChosen) fold.open = true;
    if (!fold || fold.open) start(place);
    else fold.addEventListener("toggle", () => start(place), { once: true });
  }
}

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
else begin();
