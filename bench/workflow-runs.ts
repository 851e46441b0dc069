/**
 * What a workflow run costs: until it is accepted and until it is done, with so many callers at a time. Its graph is three
 * prompts in a row, completed without a model, so that everything measured is the service's and Temporal's.
 *
 *     npm run build && node dist/bench/workflow-runs.js
 */
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSigner } from 'fast-jwt';
import { startAll } from '../scripts/start-all';
import { inParallel, percentile } from './latency';
import { request } from './request';
import { openService } from './service';

/** Runs of each row; a first argument divides it, for a quick look. */
const runs = Math.ceil(100 / Number(process.argv[2] ?? 1));
const graph = 'digraph Bench { start -> a -> b -> c -> exit; a [prompt="1"]; b [prompt="2"]; c [prompt="3"] }';

const { publicKey, privateKey } = generateKeyPairSync('ed25519', {
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const token = createSigner({ key: privateKey, algorithm: 'EdDSA', expiresIn: 3_600_000 })({
  iss: 'runboard',
  sub: 'https://people.example/bench',
});

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

  /** Starts a run and follows it to its end; milliseconds until it was accepted, and until it was done. */
  async function once(): Promise<{ accepted: number; done: number }> {
    const began = performance.now();
    const body = JSON.stringify({ dot_source: graph });
    const { id } = JSON.parse(await request(`${url}/runs`, { method: 'POST', headers, body })) as { id: string };
    const accepted = performance.now() - began;
    await request(`${url}/runs/${id}/events`, { headers });
    return { accepted, done: performance.now() - began };
  }

  try {
    await inParallel(5, 1, async () => {
      await once();
    });
    const table = [];
    for (const callers of [1, 10, 50]) {
      const samples: { accepted: number; done: number }[] = [];
      const began = performance.now();
      await inParallel(runs, callers, async () => void samples.push(await once()));
      const seconds = (performance.now() - began) / 1_000;
      const of = (name: 'accepted' | 'done', share: number): number =>
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
        'done p50 ms': of('done', 0.5),
        'done p99 ms': of('done', 0.99),
        'runs/s': (runs / seconds).toFixed(1),
      });
    }
    console.table(table);
  } finally {
    await service.stop();
    await rm(dir, { recursive: true, force: true });
  }
}

void main();
