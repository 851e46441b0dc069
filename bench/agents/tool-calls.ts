/**
 * What a call of a tool costs through the board, beside the same server called by the SDK alone in the same run, in blocks that
 * take turns. The tool counts words, so that nearly all of it is overhead: for the board that is validation, the rules, a workflow,
 * the record that makes a repeated call answer the same, and two events of the run.
 *
 *     npm run build && node dist/bench/agents/tool-calls.js [calls]
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { type BoardClient, unwrap } from '../../clients/typescript/src';
import { createRepository } from '../../scripts/demo/sample';
import { startAll } from '../../scripts/start-all';
import { percentile } from '../latency';
import {
  addRepository,
  boardOf,
  configureAgents,
  createTask,
  openService,
  type Run,
  startRun,
  stopRun,
} from '../service';

const [, , requested = '200'] = process.argv;
const calls = Number(requested);
const warmUps = 20;
const block = 20;

const root = join(__dirname, '..', '..', '..');
const server = { command: process.execPath, args: [join(root, 'examples', 'tool-server', 'server.mjs')] };
const text = { text: 'four words of text' };

/** Waits until its board stops it. */
const idleAgent = `setInterval(() => undefined, 1_000); process.stdin.resume();`;

async function connectSdk(): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(new StdioClientTransport(server));
  return client;
}

/** A running attempt whose catalog has the tool, and the digest of the catalog. */
async function startRunWithTool(board: BoardClient, directory: string): Promise<{ run: Run; catalogDigest: string }> {
  const agent = join(directory, 'idle-agent.mjs');
  await writeFile(agent, idleAgent);
  const repository = join(directory, 'sample');
  await createRepository(repository);
  await addRepository(board, { name: 'sample', path: repository });
  const transport = { kind: 'stdio', ...server } as const;
  await unwrap(board.POST('/api/tool-servers', { body: { id: 'words', displayName: 'Words', transport } }));
  const command = { command: process.execPath, args: [agent], toolServers: ['words'] };
  await configureAgents(board, [{ type: 'idle', name: 'Idle', provider: 'process', ...command }]);
  const run = await startRun(
    board,
    await createTask(board, { title: 'Use a tool', agent: 'idle', git: { repo: 'sample' } }),
  );
  const catalog = await unwrap(
    board.GET('/api/tool-servers/runs/{taskId}/{attemptId}/catalog', { params: { path: run } }),
  );
  return { run, catalogDigest: catalog.digest };
}

async function measure(
  bare: Client,
  call: (n: number) => Promise<unknown>,
): Promise<Record<'bare' | 'board', number[]>> {
  const samples = { bare: [] as number[], board: [] as number[] };
  const timed = async (kind: keyof typeof samples, work: () => Promise<unknown>): Promise<void> => {
    const startedAt = performance.now();
    await work();
    samples[kind].push(performance.now() - startedAt);
  };
  for (let from = 0; from < warmUps + calls; from += block) {
    const numbers = Array.from({ length: Math.min(block, warmUps + calls - from) }, (_, index) => from + index);
    for (const _ of numbers) {
      await timed('bare', () => bare.callTool({ name: 'count-words', arguments: text }));
    }
    for (const n of numbers) {
      await timed('board', () => call(n));
    }
  }
  return { bare: samples.bare.slice(warmUps), board: samples.board.slice(warmUps) };
}

const figures = (samples: number[]) => ({
  'p50 ms': Math.round(percentile(samples, 0.5) * 100) / 100,
  'p99 ms': Math.round(percentile(samples, 0.99) * 100) / 100,
});

async function main(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'bench-tool-calls-'));
  const dataDir = join(directory, 'data');
  const service = await startAll({ environment: openService, dataDir, ports: { api: 0 }, quiet: true });
  const bare = await connectSdk();
  try {
    const board = boardOf(service);
    const { run, catalogDigest } = await startRunWithTool(board, directory);
    const samples = await measure(bare, async (n) => {
      const body = { ...run, catalogDigest, operationId: `bench-call-${n}`, serverId: 'words', tool: 'count-words' };
      const answer = await unwrap(board.POST('/api/tool-servers/call', { body: { ...body, arguments: text } }));
      if (answer.state !== 'completed') {
        throw new Error(`The call ended as ${answer.state}.`);
      }
    });
    console.table({ 'the SDK alone': figures(samples.bare), 'through the board': figures(samples.board) });
    await stopRun(board, run);
  } finally {
    await bare.close();
    await service.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

void main();
