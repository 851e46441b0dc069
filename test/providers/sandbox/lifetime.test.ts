import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { findByEnvironment, type ProcessIdentity } from '../../../platform/processes/identity';
import { eventually } from '../../../platform/testing/eventually';
import { nothingRecorded } from '../../../providers/agents/local/recorded-output';
import { createProcessProvider } from '../../../providers/agents/process/process-provider';
import type { AgentDispatch } from '../../../providers/agents/provider';
import { groupHierarchies, removeGroups } from '../../../providers/sandbox/control-groups';
import { createSandboxHost } from '../../../providers/sandbox/sandbox-host';
import { aPreset } from '../../support/factories/contract';
import { aToolBridge } from '../../support/factories/tool-bridge';
import { aDispatch, RecordingSink } from '../agents/agent-fixture';
import { aWorktree, sh } from '../git/git-fixture';

const root = join(__dirname, '..', '..', '..');
let git: Awaited<ReturnType<typeof aWorktree>>;
let server: Server;
let port: number;
let worker: ChildProcess | undefined;
let dispatch: AgentDispatch;

beforeEach(async () => {
  git = await aWorktree();
  server = createServer((_request, response) => response.end('reached'));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  port = (server.address() as AddressInfo).port;
});
afterEach(async () => {
  worker?.kill('SIGKILL');
  await createProcessProvider().endOrphans(dispatch.attemptId, undefined, 0);
  await removeLeftGroups(dispatch.attemptId);
  await new Promise((done) => server.close(done));
  await git.directory.remove();
});

/** The control groups of a run whose worker was killed are removed an hour later; here at once. */
async function removeLeftGroups(attemptId: string): Promise<void> {
  const hierarchies = await groupHierarchies();
  await eventually(async () => {
    await removeGroups(hierarchies, attemptId);
    expect(hierarchies.filter(({ directory }) => existsSync(join(directory, attemptId)))).toEqual([]);
  });
}

/** Writes on and on until it may go, then asks for a URL by the proxy of its sandbox. */
const script = `
( while [ ! -e go ]; do echo line >> ledger; sleep 0.01; done ) &
( setsid sh -c 'trap "" TERM; while [ ! -e go ]; do echo line >> apart; sleep 0.01; done' ) &
while [ ! -e go ]; do sleep 0.01; done
"$1" -e 'const p = new URL(process.env.HTTP_PROXY); require("node:http").get({ host: p.hostname, port: p.port, path: process.argv[1] }, (r) => console.log("proxy " + r.statusCode)).on("error", (e) => console.log(e.code))' "$2"
`;

async function aConfined(changes: object = {}, run = script): Promise<AgentDispatch> {
  const network = { defaultEgress: 'deny', allowedHosts: [`127.0.0.1:${port}`] };
  const gitDir = (await sh(git.worktree, 'rev-parse', '--absolute-git-dir')).trim();
  dispatch = await aDispatch(git.directory, run, {
    worktreePath: git.worktree,
    sandbox: { preset: aPreset({ network }), gitDir },
    args: [process.execPath, `http://127.0.0.1:${port}/`],
    ...changes,
  });
  return dispatch;
}

/** A worker in a process of its own; resolves to the process of its agent. */
async function startWorker(): Promise<ProcessIdentity> {
  const args = ['-r', join(root, 'test/support/register-ts.cjs'), join(root, 'test/support/runs/agent-worker.ts')];
  const child = spawn(process.execPath, [...args, JSON.stringify({ family: 'process', dispatches: [dispatch] })], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  worker = child;
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  return eventually(() => {
    const [, identity] = /^process (.*)$/m.exec(output) ?? [];
    expect(identity).toBeDefined();
    return JSON.parse(identity ?? '') as ProcessIdentity;
  });
}

const sizeOf = (name: string): number => statSync(join(git.worktree, name), { throwIfNoEntry: false })?.size ?? 0;
const grows = async (name: string): Promise<void> => {
  const before = sizeOf(name);
  await eventually(() => expect(sizeOf(name)).toBeGreaterThan(before));
};

async function killWorker(): Promise<void> {
  const ended = once(worker!, 'exit');
  worker!.kill('SIGKILL');
  await ended;
}

const left = () => findByEnvironment('BOARD_ATTEMPT_ID', dispatch.attemptId);

describe('a sandbox whose worker is killed', () => {
  test('ends with everything in it, when its agent ends with the worker', async () => {
    await aConfined();
    await startWorker();
    await Promise.all([grows('ledger'), grows('apart')]);
    await killWorker();
    await eventually(async () => expect(await left()).toEqual([]), { withinMs: 30_000 });
    const sizes = [sizeOf('ledger'), sizeOf('apart')];
    await writeFile(join(git.worktree, 'go'), '');
    expect([sizeOf('ledger'), sizeOf('apart')]).toEqual(sizes);
  });

  test('stays when its agent outlives the worker, and has its proxy again with the next one', async () => {
    const spoolDir = join(git.directory.path, 'spool');
    await aConfined({ spoolDir });
    const identity = await startWorker();
    await Promise.all([grows('ledger'), grows('apart')]);
    await killWorker();
    await Promise.all([grows('ledger'), grows('apart')]);

    const sink = new RecordingSink();
    const provider = createProcessProvider({ sandbox: createSandboxHost({ protectedPaths: [] }) });
    const orphan = { process: identity, recorded: nothingRecorded, ranMs: 0 };
    const adopted = provider.reattach!({ dispatch, orphan }, sink, new AbortController().signal);
    // The proxy of the next worker is there before what it is asked for.
    await eventually(() => expect(sink.process).toBeDefined());
    await writeFile(join(git.worktree, 'go'), '');
    expect(await adopted).toMatchObject({
      ended: 'exit',
      exitCode: 0,
      sandbox: { network: 'proxy', egress: { allowed: 1, denied: 0 } },
    });
    expect(sink.text()).toContain('proxy 200');
    expect(await left()).toEqual([]);
    expect(existsSync(join(dispatch.transportDir, `${dispatch.attemptId}.net`))).toBe(false);
  });

  test('shows its agent the tool bridge of the next worker', async () => {
    const shown =
      'cat "$BOARD_TOOL_BRIDGE" > first; touch ledger; while [ ! -e go ]; do sleep 0.01; done; cat "$BOARD_TOOL_BRIDGE" > next';
    await aConfined({ spoolDir: join(git.directory.path, 'spool'), toolBridge: aToolBridge() }, shown);
    const identity = await startWorker();
    await eventually(() => expect(sizeOf('first')).toBeGreaterThan(0));
    await killWorker();
    const sink = new RecordingSink();
    const provider = createProcessProvider({ sandbox: createSandboxHost({ protectedPaths: [] }) });
    const orphan = { process: identity, recorded: nothingRecorded, ranMs: 0 };
    const next = { ...dispatch, toolBridge: aToolBridge({ handle: 'second' }) };
    const adopted = provider.reattach!({ dispatch: next, orphan }, sink, new AbortController().signal);
    await eventually(() => expect(sink.process).toBeDefined());
    await writeFile(join(git.worktree, 'go'), '');
    expect(await adopted).toMatchObject({ ended: 'exit', exitCode: 0 });
    const handles = ['first', 'next'].map((name) => readFileSync(join(git.worktree, name), 'utf8'));
    expect(handles.map((text) => (JSON.parse(text) as { handle: string }).handle)).toEqual(['first', 'second']);
  });

  test('is ended with everything in it by the next worker when its agent is not adopted', async () => {
    await aConfined({ spoolDir: join(git.directory.path, 'spool') });
    const identity = await startWorker();
    await Promise.all([grows('ledger'), grows('apart')]);
    await killWorker();
    const provider = createProcessProvider();
    expect((await provider.endOrphans(dispatch.attemptId, identity, 100)).length).toBeGreaterThan(0);
    expect(await left()).toEqual([]);
  });
});
