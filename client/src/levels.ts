/** Selects the table that a view is drawn from: the coarsest whose merged gaps are no longer than a pixel. */

import { type About, Rows, type TableSource } from "./rows";
import { rowsOf } from "./source";

export class Levels {
  private readonly loaded = new Map<TableSource, Promise<Rows>>();

  constructor(private readonly about: About) {}

  /**
   * Tables that a view can be drawn from, the coarsest first.
   *
   * @param by what separates the rows of the view, besides time
   * @param needsRequests whether it needs each single request
   */
  tables(by: TableSource["by"], needsRequests: boolean): TableSource[] {
    const isRequests = ({ tolerance }: TableSource): boolean => tolerance === 0;
    return this.about.tables
      .filter((table) => (isRequests(table) && table.by === "rank") || (table.by === by && !needsRequests))
      .sort((a, b) => b.tolerance - a.tolerance || b.rows - a.rows);
  }

  /** The table for a picture with `pixelSeconds` per pixel; undefined if there is none. */
  choice(tables: TableSource[], pixelSeconds: number): TableSource | undefined {
    return tables.find(({ tolerance }) => tolerance <= pixelSeconds) ?? tables.at(-1);
  }

  /** The rows of a table, loaded once. */
  rows(table: TableSource): Promise<Rows> {
    let rows = this.loaded.get(table);
    if (!rows) this.loaded.set(table, (rows = rowsOf(table, this.about.tick_seconds)));
    return rows;
  }
}
