import type { RunRecord } from '../runs/run';
import type { Signoff } from '../verification/signoff';
import { namedTables } from './named';
import { addRun, noRows, type Rows, signoffRow } from './table-rows';
import type { TableName } from './tables';

type Page = { skip: number; limit: number };

/** Where the rows of the tables come from, the newest first. */
export interface Sources {
  runs: (page: Page) => Promise<RunRecord[]>;
  /** A run with all of its stages. */
  whole: (run: RunRecord) => Promise<RunRecord>;
  signoffs: (page: Page) => Promise<Signoff[]>;
}

/** The most that is loaded for one query. */
export interface SnapshotLimits {
  runs: number;
  /** Over all runs: no further run is loaded when there are so many. */
  stages: number;
  signoffs: number;
}

export interface Snapshot {
  rows: Rows;
  /** Tables of which older rows are left out. */
  leftOut: TableName[];
}

/** Records that are read at a time. */
const pageSize = 100;

/**
 * Reads the newest records, until `take` does not take one; whether all were taken. What is added meanwhile moves the pages
 * on, so a record may come twice: it is taken once.
 */
async function readNewest<T>(
  read: (page: Page) => Promise<T[]>,
  idOf: (record: T) => string,
  take: (record: T) => boolean | Promise<boolean>,
): Promise<boolean> {
  const seen = new Set<string>();
  for (let skip = 0; ; skip += pageSize) {
    const records = await read({ skip, limit: pageSize });
    for (const record of records) {
      if (seen.has(idOf(record))) {
        continue;
      }
      seen.add(idOf(record));
      if (!(await take(record))) {
        return false;
      }
    }
    if (records.length < pageSize) {
      return true;
    }
  }
}

/** Loads what a query is about, within bounds. */
export async function takeSnapshot(sql: string, sources: Sources, limits: SnapshotLimits): Promise<Snapshot> {
  const tables = namedTables(sql);
  const rows = noRows();
  const leftOut: TableName[] = [];
  if (tables.some((name) => name !== 'signoffs')) {
    const all = await readNewest(
      sources.runs,
      ({ _id }) => _id,
      async (record) => {
        const run = await sources.whole(record);
        if (rows.runs.length >= limits.runs || rows.stages.length + run.stages.length > limits.stages) {
          return false;
        }
        addRun(rows, run);
        return true;
      },
    );
    if (!all) {
      leftOut.push(...tables.filter((name) => name !== 'signoffs'));
    }
  }
  if (tables.includes('signoffs')) {
    const all = await readNewest(
      sources.signoffs,
      ({ id }) => id,
      (signoff) => {
        if (rows.signoffs.length >= limits.signoffs) {
          return false;
        }
        rows.signoffs.push(signoffRow(signoff));
        return true;
      },
    );
    if (!all) {
      leftOut.push('signoffs');
    }
  }
  return { rows, leftOut };
}
