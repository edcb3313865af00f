/** Which table a view is drawn from: the coarsest whose merged gaps are below a pixel. */

import { type About, Rows, type TableSource } from "./rows";
import { rowsOf } from "./source";

export class Levels {
  private readonly loaded = new Map<TableSource, Promise<Rows>>();

  constructor(private readonly about: About) {}

  /**
   * Tables that a view can be drawn from, coarse ones first.
   *
   * @param by what the view tells rows apart by
   * @param needsRequests whether it needs to know of each request
   */
  tables(by: TableSource["by"], needsRequests: boolean): TableSource[] {
    const isRequests = ({ tolerance }: TableSource): boolean => tolerance === 0;
    return this.about.tables
      .filter((table) => (isRequests(table) && table.by === "rank") || (table.by === by && !needsRequests))
      .sort((a, b) => b.tolerance - a.tolerance || b.rows - a.rows);
  }

  /** The table for a picture in which a pixel is so many seconds; undefined where there is none. */
  choice(tables: TableSource[], pixelSeconds: number): TableSource | undefined {
    return tables.find(({ tolerance }) => tolerance <= pixelSeconds) ?? tables.at(-1);
  }

  /** The rows of a table, which are read once. */
  rows(table: TableSource): Promise<Rows> {
    let rows = this.loaded.get(table);
    if (!rows) this.loaded.set(table, (rows = rowsOf(table, this.about.tick_seconds)));
    return rows;
  }
}
