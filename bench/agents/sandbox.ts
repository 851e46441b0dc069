import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sandboxPresetUpdate } from '../../contracts/settings/sandbox';
import { makeTempDir } from '../../platform/testing/temp-dir';
import { openRunSandbox, type RunSandbox } from '../../providers/sandbox/run-sandbox';
import { createSandboxHost } from '../../providers/sandbox/sandbox-host';

/** How long a program takes to start and end, without a sandbox and in one: `node dist/bench/agents/sandbox.js`. */
const rounds = 60;
const program = { path: '/bin/sh', args: ['-c', ':'] };

async function startAndEnd(sandbox: RunSandbox | undefined): Promise<number> {
  const begun = performance.now();
  const { path, args } = sandbox ? await sandbox.wrap(program) : program;
  const [code] = (await once(spawn(path, args, { stdio: 'ignore' }), 'exit')) as [number | null];
  if (code !== 0) {
    throw new Error(`The program ended with ${code}.`);
  }
  return performance.now() - begun;
}

async function main(): Promise<void> {
  const directory = await makeTempDir('bench-sandbox');
  const worktreePath = join(directory.path, 'worktree');
  await mkdir(worktreePath);
  const host = createSandboxHost({ protectedPaths: [] });
  const open = (id: string, network: object) => {
    const now = new Date().toISOString();
    const fields = sandboxPresetUpdate.parse({ name: id, network });
    const preset = { id, ...fields, revision: 1, createdAt: now, updatedAt: now };
    const attemptId = `attempt_${id}`;
    return openRunSandbox(host, {
      attemptId,
      preset,
      worktreePath,
      directory: directory.path,
      given: [],
      callsApi: false,
    });
  };
  const cases: [string, RunSandbox | undefined][] = [
    ['no sandbox', undefined],
    ['network of the host', await open('shared', {})],
    ['no network', await open('none', { defaultEgress: 'deny' })],
    ['proxy', await open('proxy', { defaultEgress: 'deny', allowedHosts: ['example.org'] })],
  ];
  const times = new Map<string, number[]>(cases.map(([name]) => [name, []]));
  // Side by side: each round has one of each.
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, sandbox] of cases) {
      times.get(name)?.push(await startAndEnd(sandbox));
    }
  }
  for (const [name, all] of times) {
    all.sort((one, other) => one - other);
    const at = (share: number) => (all[Math.floor(all.length * share)] ?? 0).toFixed(1);
    console.log(`${name}: ${at(0.5)} ms at p50, ${at(0.95)} ms at p95`);
  }
  for (const [, sandbox] of cases) {
    await sandbox?.close(false);
  }
  await directory.remove();
}

void main();
