/**
 * What a workflow run costs: until it is accepted, until the first byte of its events, and until it is done, with so many callers at
 * a time. Its graph is three prompts in a row, completed without a model, so that everything measured is the service's and
 * Temporal's. Then what a stage costs, beside an activity of a bare workflow on the same server, by turns.
 *
 *     npm run build && node dist/bench/workflow-runs.js
 */
import { fork } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { createSigner } from 'fast-jwt';
import { startAll } from '../scripts/start-all';
import { floorSteps } from './floor/workflow';
import { inParallel, percentile } from './latency';
import { request } from './request';
import { openService } from './service';

/** Runs of each row; a first argument divides it, for a quick look. */
const runs = Math.ceil(100 / Number(process.argv[2] ?? 1));
/** So many prompts in a row. */
const graphOf = (prompts: number): string => {
  const names = Array.from({ length: prompts }, (_, n) => `n${n}`);
  return `digraph Bench { start -> ${names.join(' -> ')} -> exit; ${names.map((name) => `${name} [prompt="1"]`).join('; ')} }`;
};
const graph = graphOf(3);
/** Stages of a short and of a long run: what the long one takes longer is what its further stages cost. */
const stages = { short: 1, long: 31 };

const { publicKey, privateKey } = generateKeyPairSync('ed25519', {
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const token = createSigner({ key: privateKey, algorithm: 'EdDSA', expiresIn: 3_600_000 })({
  iss: 'runboard',
  sub: 'https://people.example/bench',
});

/** Milliseconds until it was accepted, from then until the first byte of its events, and from its start until it was done. */
type Sample = Record<'accepted' | 'event' | 'done', number>;

/** What a further stage costs, and a further activity of a bare workflow. */
async function stageCosts(address: string, ours: (count: number) => Promise<number>) {
  const worker = fork(join(__dirname, 'floor', 'worker.js'), { env: { ...process.env, TEMPORAL_ADDRESS: address } });
  await once(worker, 'message');
  const connection = await Connection.connect({ address });
  const { workflow } = new Client({ connection });
  let started = 0;
  async function bare(count: number): Promise<number> {
    const began = performance.now();
    const workflowId = `floor/steps/${(started += 1)}`;
    await workflow.execute(floorSteps, { workflowId, taskQueue: 'floor', args: [count] });
    return performance.now() - began;
  }
  async function furtherMs(one: (count: number) => Promise<number>): Promise<number> {
    const short = await one(stages.short);
    return ((await one(stages.long)) - short) / (stages.long - stages.short);
  }
  const samples: Record<'bare activity' | 'stage', number[]> = { 'bare activity': [], stage: [] };
  try {
    for (let n = 0; n < Math.ceil(runs / 5); n += 1) {
      samples['bare activity'].push(await furtherMs(bare));
      samples.stage.push(await furtherMs(ours));
    }
  } finally {
    await connection.close();
    worker.disconnect();
    await once(worker, 'exit');
  }
  const rounded = (of: number[], share: number): string => percentile(of, share).toFixed(1);
  return Object.entries(samples).map(([what, of]) => ({
    what,
    'p50 ms': rounded(of, 0.5),
    'p90 ms': rounded(of, 0.9),
  }));
}

async function main(): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'board-bench-'));
  const service = await startAll({
    environment: {
      ...openService,
      WORKFLOW_RUNS_JWT_PUBLIC_KEY: publicKey,
      WORKFLOW_RUNS_USERS: 'bench',
      WORKFLOW_RUNS_CONCURRENCY: '1000',
      WORKFLOW_RUNS_PORT: '0',
    },
    dataDir: join(dir, 'data'),
    ports: { api: 0 },
    services: ['workflow-runs'],
    quiet: true,
  });
  const url = service.serviceUrls['workflow-runs'] ?? '';
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };

  /** Starts a run and follows it to its end. */
  async function follow(dot_source = graph): Promise<Sample> {
    const began = performance.now();
    const body = JSON.stringify({ dot_source });
    const { id } = JSON.parse(await request(`${url}/runs`, { method: 'POST', headers, body })) as { id: string };
    const accepted = performance.now() - began;
    const response = await fetch(`${url}/runs/${id}/events`, { headers });
    let event: number | undefined;
    for await (const _chunk of response.body ?? []) {
      event ??= performance.now() - began - accepted;
    }
    return { accepted, event: event ?? Number.NaN, done: performance.now() - began };
  }

  try {
    await inParallel(5, 1, async () => {
      await follow();
    });
    const table = [];
    for (const callers of [1, 10, 50]) {
      const samples: Sample[] = [];
      const began = performance.now();
      await inParallel(runs, callers, async () => void samples.push(await follow()));
      const seconds = (performance.now() - began) / 1_000;
      const of = (name: keyof Sample, share: number): number =>
        Math.round(
          percentile(
            samples.map((sample) => sample[name]),
            share,
          ),
        );
      table.push({
        callers,
        'accepted p50 ms': of('accepted', 0.5),
        'accepted p99 ms': of('accepted', 0.99),
        'first event p50 ms': of('event', 0.5),
        'first event p99 ms': of('event', 0.99),
        'done p50 ms': of('done', 0.5),
        'done p99 ms': of('done', 0.99),
        'runs/s': (runs / seconds).toFixed(1),
      });
    }
    console.table(table);
    console.table(await stageCosts(service.temporalAddress, async (count) => (await follow(graphOf(count))).done));
  } finally {
    await service.stop();
    await rm(dir, { recursive: true, force: true });
  }
}

void main();
