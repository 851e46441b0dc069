/**
 * What spans add to an operation of a store: the store that a process opens without tracing beside its adapter alone, then
 * one that is traced, outside of a span and within one. By turns, in CPU time, on the read that takes least.
 *
 *     npm run build && node dist/bench/tracing/stores.js
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { createLog } from '../../platform/log/log';
import { makeTempDir } from '../../platform/testing/temp-dir';
import { openTracing } from '../../platform/tracing/open';
import { inSpan, SpanKind } from '../../platform/tracing/spans';
import { openDatabase } from '../../stores/port/open';
import { repeatableDatabase } from '../../stores/port/wrappers/repeatable';
import { openSqlite } from '../../stores/sqlite/database';
import { percentile } from '../latency';

const rounds = 60;
/** Of one turn: no more than the exporter has room for. */
const reads = 1_000;
/** A turn has time for what was recorded to be sent, which is a part of its cost. */
const sentWithinMs = 30;

interface Row {
  _id: string;
  text: string;
}

type Read = () => Promise<unknown>;

/** A collector that takes what it is sent, and reads none of it. */
async function startSink(): Promise<{ url: string; close: () => void }> {
  const server = createServer((request, response) => {
    request.resume().once('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Microseconds of processor for a read: the median of rounds in which each way has its turn. */
async function measure(ways: Record<string, (read: Read) => Promise<void>>, readOf: Record<string, Read>) {
  const samples: Record<string, number[]> = {};
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, times] of Object.entries(ways)) {
      const before = process.cpuUsage();
      await times(readOf[name] as Read);
      await pause(sentWithinMs);
      const { user, system } = process.cpuUsage(before);
      // The first round is for the compiler.
      if (round > 0) {
        (samples[name] ??= []).push((user + system) / reads);
      }
    }
  }
  return Object.entries(samples).map(([read, of]) => ({
    read,
    'p50, CPU µs': percentile(of, 0.5).toFixed(2),
    'p90, CPU µs': percentile(of, 0.9).toFixed(2),
  }));
}

async function repeated(read: Read): Promise<void> {
  for (let n = 0; n < reads; n += 1) {
    await read();
  }
}

async function main(): Promise<void> {
  const log = createLog({ name: 'bench', level: 'warn' });
  const [bareDir, offDir, onDir] = [await makeTempDir('bare'), await makeTempDir('off'), await makeTempDir('on')];
  const opened = async (database: Awaited<ReturnType<typeof openDatabase>>) => {
    const rows = await database.collection<Row>({ name: 'rows' });
    await rows.insert({ _id: 'a', text: 'text' });
    return { database, read: () => rows.get('a') };
  };
  const bare = await opened(repeatableDatabase(await openSqlite({ file: `${bareDir.path}/a.sqlite`, log })));
  const off = await opened(await openDatabase({ dataDir: offDir.path, log }));
  console.table(
    await measure(
      { 'adapter alone': repeated, 'tracing off': repeated },
      { 'adapter alone': bare.read, 'tracing off': off.read },
    ),
  );

  const sink = await startSink();
  const settings = {
    OTEL_EXPORTER_OTLP_ENDPOINT: sink.url,
    OTEL_EXPORTER_OTLP_HEADERS: {},
    OTEL_TRACES_SAMPLER_ARG: 1,
    OTEL_BSP_SCHEDULE_DELAY: 10,
  };
  const closeTracing = await openTracing(settings, 'bench', log);
  const on = await opened(await openDatabase({ dataDir: onDir.path, log }));
  const within = (read: Read): Promise<void> =>
    inSpan({ name: 'bench', kind: SpanKind.INTERNAL }, () => repeated(read));
  console.table(
    await measure(
      { 'adapter alone': repeated, 'tracing on, no span open': repeated, 'tracing on, within a span': within },
      { 'adapter alone': bare.read, 'tracing on, no span open': on.read, 'tracing on, within a span': on.read },
    ),
  );
  await closeTracing();
  sink.close();
  for (const { database } of [bare, off, on]) {
    await database.close();
  }
  await Promise.all([bareDir, offDir, onDir].map((dir) => dir.remove()));
}

void main();
