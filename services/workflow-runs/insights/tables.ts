/** The tables that can be queried: their columns with the types of SQLite. */
export const tables = {
  runs: `id TEXT, title TEXT, workflow TEXT, workflow_name TEXT, status TEXT, goal TEXT, created_by TEXT, created_at TEXT,
    started_at TEXT, ended_at TEXT, duration_secs REAL, stages INTEGER, smoothness TEXT, error TEXT`,
  stages: `run_id TEXT, position INTEGER, id TEXT, name TEXT, node TEXT, kind TEXT, status TEXT, started_at TEXT,
    ended_at TEXT, duration_secs REAL, retries INTEGER, model TEXT, input_tokens INTEGER, output_tokens INTEGER, cost REAL,
    notes TEXT, failure_reason TEXT`,
  retros: `run_id TEXT, workflow TEXT, timestamp TEXT, smoothness TEXT, total_duration_ms INTEGER, total_cost REAL,
    total_retries INTEGER, stages_completed INTEGER, stages_failed INTEGER, friction_points INTEGER`,
  signoffs: `id TEXT, control TEXT, repository TEXT, commit_sha TEXT, status TEXT, url TEXT, description TEXT, source TEXT,
    created_at TEXT`,
  usage: `run_id TEXT, workflow TEXT, model TEXT, stages INTEGER, input_tokens INTEGER, output_tokens INTEGER, cost REAL`,
} as const;
export type TableName = keyof typeof tables;
export const tableNames = Object.keys(tables) as TableName[];

/** The names of a table's columns, in their order. */
export const columnsOf = (name: TableName): string[] =>
  tables[name].split(',').map((column) => column.trim().split(' ')[0] ?? '');
