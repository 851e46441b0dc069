import type { OpenArea } from '../context';
import { usePermission } from '../http/auth';
import { pageOf, pageQuery, readPage } from '../http/pages';
import { createSignoffStore } from '../verification/signoff-store';
import { createQueryRunner } from './query-runner';
import { createQueryStore } from './query-store';
import { savedQueryRoutes } from './routes.queries';
import { execution, executionResult, historyEntry } from './saved-query';
import { takeSnapshot } from './snapshot';

const common = { mount: 'root' as const, tag: 'insights', permission: usePermission };

const loaded = { runs: 1_000, stages: 20_000, signoffs: 5_000 };
const limits = { rows: 10_000, cells: 200_000, bytes: 4_194_304, timeMs: 5_000, atATime: 2, waiting: 16 };

/** Questions that are put to the records of runs in SQL. */
export const openInsights: OpenArea = async ({ database, runs, now }) => {
  const queries = await createQueryStore(database);
  const signoffs = await createSignoffStore(database);
  const runner = createQueryRunner(limits);
  const sources = {
    runs: runs.list,
    whole: runs.whole,
    signoffs: (page: { skip: number; limit: number }) => signoffs.list({}, page),
  };

  return (routes) => {
    savedQueryRoutes(routes, queries, now);
    routes.add(
      {
        ...common,
        method: 'post',
        path: '/insights/execute',
        operationId: 'executeQuery',
        summary: 'Execute one SELECT on the newest records',
        body: execution,
        response: executionResult,
        errors: [429],
      },
      async ({ body: { sql } }) => {
        const load = () => takeSnapshot(sql, sources, loaded);
        const { columns, rows, elapsed, leftOut } = await runner.run(sql, load);
        await queries.note({ sql, elapsed, row_count: rows.length }, now());
        return { columns, rows, elapsed, row_count: rows.length, ...(leftOut.length > 0 && { left_out: leftOut }) };
      },
    );
    routes.add(
      {
        ...common,
        method: 'get',
        path: '/insights/history',
        operationId: 'listQueryHistory',
        summary: 'List executed queries, newest first',
        query: pageQuery,
        response: pageOf(historyEntry),
      },
      ({ query }) => readPage(query, (part) => queries.executions(part)),
    );
  };
};
