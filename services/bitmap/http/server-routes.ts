import { cpus } from 'node:os';
import { Readable } from 'node:stream';
import type { Context } from 'koa';
import { exactJson } from '../../../platform/json/exact';
import { bitmapKindName } from '../bitmaps/kind';
import type { Index } from '../engine/catalog';
import { ColumnSet } from '../engine/column-set';
import { Field } from '../engine/field';
import { frameField } from '../engine/frames';
import { shardWidth } from '../engine/segments';
import { isTimeView, standardView } from '../engine/time-quantum';
import { View } from '../engine/view';
import type { Int } from '../int';
import { catalogOf, findField, findIndex, inSlices, type Routes } from './context';
import { highestShards } from './earlier-routes';
import { argument, checkArguments, json, mustAcceptJson, Refusal, shardArgument } from './reply';

/** The version whose interface is served, as the client libraries compare it. */
const interfaceVersion = '1.4.1';

/** The one node that there is, under the address the caller reached it by. */
function node(ctx: Context) {
  const port = Number(new URL(`http://${ctx.host || 'localhost'}`).port || 80);
  const host = ctx.hostname || 'localhost';
  const id = 'runboard-bitmap';
  return { id, uri: { scheme: 'http', host, port }, isCoordinator: true, state: 'READY' };
}

/** About the server itself, and what client libraries ask it before they import. */
export const serverRoutes: Routes = (router, context) => {
  const { store, metrics, threads } = context;
  const catalog = catalogOf(context);

  router.get('/', (ctx) => {
    ctx.status = 404;
    ctx.body = 'This is a bitmap index server. See docs/use/services/bitmap.md for what it answers.\n';
  });

  router.get('/version', (ctx) => {
    checkArguments(ctx);
    mustAcceptJson(ctx);
    json(ctx, exactJson({ version: interfaceVersion }));
  });

  router.get('/health', (ctx) => json(ctx, '{"status":"ok"}'));

  router.get('/status', (ctx) => {
    checkArguments(ctx);
    mustAcceptJson(ctx);
    const self = node(ctx);
    const problems = store.findings.map(({ file, problem, lostBytes }) => ({ file, problem, lostBytes }));
    const damaged = catalog.all().flatMap(({ name, damage }) => (damage ? [{ name, reason: damage.reason }] : []));
    json(ctx, exactJson({ state: 'NORMAL', nodes: [self], localID: self.id, problems, damaged }));
  });

  router.get('/info', (ctx) => {
    checkArguments(ctx);
    mustAcceptJson(ctx);
    const cores = cpus();
    json(
      ctx,
      exactJson({
        shardWidth,
        memory: process.memoryUsage.rss(),
        cpuType: cores[0]?.model ?? '',
        cpuPhysicalCores: Math.max(cores.length, 1),
        cpuLogicalCores: Math.max(cores.length, 1),
        cpuMHz: Math.max(cores[0]?.speed ?? 1, 1),
        bitmaps: bitmapKindName,
      }),
    );
  });

  router.get('/metrics', (ctx) => {
    ctx.type = 'text/plain; version=0.0.4';
    ctx.body = metrics.text([
      { name: 'bitmap_resident_bytes', help: 'Memory of the process.', value: process.memoryUsage.rss() },
      { name: 'bitmap_indexes', help: 'Indexes.', value: catalog.indexes.size },
      { name: 'bitmap_log_bytes', help: 'Log since the last snapshot.', value: store.logBytes },
      { name: 'bitmap_log_writes', help: 'Writes of the log to the disk since the start.', value: store.logWrites },
      { name: 'bitmap_snapshot_bytes', help: 'Snapshots on disk.', value: store.snapshotSize },
      { name: 'bitmap_threads', help: 'Threads that count, at present.', value: threads?.size ?? 0 },
      {
        name: 'bitmap_threads_counted',
        help: 'Calls that threads counted since the start.',
        value: threads?.counted ?? 0,
      },
      { name: 'bitmap_copies_bytes', help: 'Copies of rows that threads read.', value: threads?.copiedBytes ?? 0 },
    ]);
  });

  router.post('/recalculate-caches', async (ctx) => {
    checkArguments(ctx);
    for (const thing of catalog.all()) {
      if (thing instanceof Field && thing.ranks) {
        await inSlices(context, thing.ranks.calculation());
      }
    }
    ctx.status = 204;
  });

  const nodes = (argumentName: string) => (ctx: Context) => {
    checkArguments(ctx, argumentName, 'index');
    mustAcceptJson(ctx);
    shardArgument(ctx, argumentName);
    if (!argument(ctx, 'index')) {
      throw new Refusal(400, 'index is required', { form: 'error' });
    }
    json(ctx, exactJson([node(ctx)]));
  };
  router.get('/internal/fragment/nodes', nodes('shard'));
  router.get('/fragment/nodes', nodes('slice'));

  router.get('/internal/nodes', (ctx) => json(ctx, exactJson([node(ctx)])));

  for (const path of ['/internal/shards/max', '/slices/max']) {
    router.get(path, async (ctx) =>
      json(ctx, exactJson({ standard: await inSlices(context, highestShards(catalog)) })),
    );
  }

  router.get('/export', async (ctx) => {
    checkArguments(ctx, 'index', 'field', 'shard', 'frame', 'view', 'slice');
    if (ctx.accepts('text/csv') === false) {
      throw new Refusal(406, 'CSV only acceptable response');
    }
    const isEarlier = argument(ctx, 'frame') !== undefined;
    const requiredArgument = (name: string): string => {
      const value = argument(ctx, name);
      if (!value) {
        throw new Refusal(400, `${name} is required`, { form: 'error' });
      }
      return value;
    };
    const index = findIndex(catalog, requiredArgument('index'), { form: 'error' });
    const name = isEarlier ? frameField(requiredArgument('frame')) : requiredArgument('field').replace(/\//g, '');
    const field = findField(index, name, { form: 'error' });
    const shard = shardArgument(ctx, isEarlier ? 'slice' : 'shard');
    const view = field.views.get(viewArgument(ctx, field)) ?? new View();
    ctx.type = 'text/csv';
    // As it is read: the lines of a shard may be more than fit into memory.
    const rows = await inSlices(context, view.sortedRowsInSteps());
    ctx.body = Readable.from(csv({ index, field, view }, rows, shard));
  });
};

/** The view that an export is of: `standard` unless given, or one of a time: `standard_2017`. */
function viewArgument(ctx: Context, { options, values }: Field): string {
  const name = argument(ctx, 'view') ?? 'standard';
  const time = name.replace(/^standard_/, '');
  if (values) {
    throw new Refusal(400, 'an integer field has no rows to export', { form: 'error' });
  }
  if (name === 'standard') {
    if (options.noStandardView) {
      throw new Refusal(400, 'the field has no standard view; export one of a time: standard_2017', { form: 'error' });
    }
    return standardView;
  }
  if (name === time || !isTimeView(time, options.timeQuantum ?? '')) {
    throw new Refusal(400, `${name} is not a view of the field`, { form: 'error' });
  }
  return time;
}

const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);

/** Lines `row,column` of one shard, by row and then by column, each row as it is when its turn comes; keys where there are keys. */
function* csv(
  { index, field, view }: { index: Index; field: Field; view: View },
  rows: readonly Int[],
  shard: number,
): Generator<string> {
  const columnsOfShard = ColumnSet.ofShards([shard]);
  for (const row of rows) {
    const rowText = field.options.keys ? quoted(field.keys.key(row) ?? '') : String(row);
    for (const chunk of view.row(row).and(columnsOfShard).chunks()) {
      const lines = chunk.map((column) => {
        const columnText = index.options.keys ? quoted(index.keys.key(column) ?? '') : String(column);
        return `${rowText},${columnText}\n`;
      });
      yield lines.join('');
    }
  }
}
