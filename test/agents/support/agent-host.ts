import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import type { CheckFinding, CheckStep } from '../../../contracts/settings/agent-check';
import type { AgentFromPreset, PresetId } from '../../../contracts/settings/agent-preset';
import { agentPresets } from '../../../domain/agents/presets';
import { findByEnvironment, findEnvironment } from '../../../platform/processes/identity';
import { makeTempDir } from '../../../platform/testing/temp-dir';
import { attemptVariable, probeVariable } from '../../../providers/agents/local/end-attempt';
import { aRepository, git } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';
import { edit, type ModelApi, startModelApi, type WireFormat } from '../model-api/server';
import { directories } from './packages';

/** A whole service whose host has the real agents on its `PATH`, and no way out of this machine. */
export interface AgentHost {
  stack: Stack;
  model: ModelApi;
  repository: string;
  /** What was asked of the proxy, which refuses all of it: `CONNECT host:port`. */
  refused: string[];
  /** Names of the variables that keep an agent from leaving this machine. */
  offline: string[];
  /** Adds an agent from a preset, given the variables of this host besides those that the preset names. */
  addAgent(request: AgentFromPreset): Promise<void>;
  check(type: string): Promise<Checked>;
  /** Runs the agent on a new task to its end. */
  run(type: string): Promise<Run>;
  close(): Promise<void>;
}

export interface Checked {
  ok: boolean;
  steps: Record<CheckStep, CheckFinding['status']>;
  /** The finding of the step that failed, as a task shows it: its message and its remedy. */
  failure: string | undefined;
  version: string | undefined;
  offer?: { models: { id: string }[]; modes: { id: string }[] };
}

export interface Run {
  taskId: string;
  /** The attempt as the status of its task has it. */
  attempt: { completion: { status: string; summary: string; harness: object }; attemptId: string };
  /** Why it did not succeed, as the task shows it. */
  cause: string | undefined;
}

/**
 * @param format the model API that the agent is to meet
 * @param variables how the agent finds it, by the address of the stand-in, and its key
 */
export async function startAgentHost(
  format: WireFormat,
  variables: (modelUrl: string) => Record<string, string>,
): Promise<AgentHost> {
  const dir = await makeTempDir('agents');
  const model = await startModelApi(format);
  const proxy = await startProxy();
  const address = { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url, http_proxy: proxy.url, https_proxy: proxy.url };
  const offline = { ...address, NO_PROXY: '127.0.0.1,localhost', no_proxy: '127.0.0.1,localhost' };
  const own = variables(model.url);
  const home = join(dir.path, 'home');
  const temporary = join(dir.path, 'tmp');
  await Promise.all([home, temporary].map((path) => mkdir(path)));
  Object.assign(process.env, offline, own, { HOME: home, TMPDIR: temporary });
  process.env.PATH = [...directories, process.env.PATH].join(delimiter);
  const keys = agentPresets.flatMap(({ authentication }) => authentication.flatMap((one) => one.environmentKeys));
  const settings = Object.keys({ ...offline, ...own }).filter((name) => !keys.includes(name));

  const stack = await startStack();
  const repository = await aRepository(dir.path);
  await stack.call.addRepository('sample', repository);

  return {
    stack,
    model,
    repository,
    refused: proxy.refused,
    offline: Object.keys(offline),
    async addAgent(request) {
      const preset = agentPresets.find(({ id }) => id === request.preset);
      const method = preset?.authentication.find(({ id }) => id === request.authentication);
      const environmentKeys = [...(method?.environmentKeys ?? []).filter((key) => key in own), ...settings];
      await stack.call.ok('POST', '/api/config/agents/from-preset', {
        run: 'program',
        handshakeSeconds: 120,
        permissions: 'allow',
        environmentKeys,
        ...request,
      });
    },
    check: (type) => check(stack, type),
    async run(type) {
      const { id: taskId } = await stack.call.createTask({
        title: `Write ${edit.path}`,
        git: { repo: 'sample' },
      });
      await stack.call.start(taskId, { agent: type });
      const { attempt } = await stack.call.ended(taskId);
      const task = await stack.call.ok('GET', `/api/tasks/${taskId}`);
      return { taskId, attempt, cause: task.attempt?.cause };
    },
    async close() {
      await stack.close();
      const left = await agentsOf(home);
      await proxy.close();
      await model.close();
      await dir.remove();
      if (left.length > 0) {
        throw new Error(`Processes of the agent are left: ${left.join(', ')}`);
      }
    },
  };
}

/** Processes that were started for agents with this home, or by them. */
async function agentsOf(home: string): Promise<number[]> {
  const [ours, ...agents] = await Promise.all([
    findByEnvironment('HOME', home),
    findEnvironment(attemptVariable),
    findEnvironment(probeVariable),
  ]);
  const pids = new Set(agents.flat().map(({ identity }) => identity.pid));
  return ours.map(({ pid }) => pid).filter((pid) => pids.has(pid));
}

async function check(stack: Stack, type: string): Promise<Checked> {
  const { ok, findings, offer } = await checkedInTime();
  const list = findings as CheckFinding[];
  const failed = list.find(({ status }) => status === 'failed');
  return {
    ok,
    steps: Object.fromEntries(list.map(({ step, status }) => [step, status])) as Checked['steps'],
    failure: failed && `${failed.message.replace(/\.$/, '')}: ${failed.remedy}`,
    version: list.find(({ step }) => step === 'version')?.message,
    offer,
  };

  /** A check that goes on is joined by the same request. */
  async function checkedInTime(): Promise<{ ok: boolean; findings: unknown; offer?: Checked['offer'] & object }> {
    for (;;) {
      const { status, body } = await stack.call.post(`/api/config/agents/${type}/check`);
      if (status === 200) {
        return body;
      }
      if (body?.code !== 'CHECK_PENDING') {
        throw new Error(`check of ${type}: ${status} ${JSON.stringify(body)}`);
      }
    }
  }
}

/** A proxy that refuses everything, and remembers what. */
async function startProxy() {
  const refused: string[] = [];
  const server = createServer((request, response) => {
    refused.push(`${request.method} ${request.url}`);
    response.writeHead(403).end();
  });
  server.on('connect', ({ url }, socket) => {
    refused.push(`CONNECT ${url}`);
    // An agent that does not wait for the response is as welcome.
    socket.on('error', () => undefined);
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    refused,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Runs the agent, and expects the file that the stand-in had it write on the branch of its task. */
export async function expectCommittedEdit(host: AgentHost, type: string): Promise<void> {
  const { taskId, attempt, cause } = await host.run(type);
  expect({ cause, completion: attempt.completion }).toMatchObject({
    cause: undefined,
    completion: { status: 'success', summary: edit.summary, changedFiles: [{ path: edit.path, verified: true }] },
  });
  const branch = `board/${taskId}`;
  expect(await git(host.repository, 'show', `${branch}:${edit.path}`)).toBe(edit.content.trim());
  expect(await git(host.repository, 'rev-list', '--count', `main..${branch}`)).toBe('1');
}

/** How the agent of a preset introduces itself, in the tested version that is installed: the one for the oldest Node. */
export const testedPackage = (id: PresetId): string =>
  `${introductions[id]} ${agentPresets.find((preset) => preset.id === id)?.packages.at(-1)?.version}`;

const introductions: Partial<Record<PresetId, string>> = {
  gemini: 'gemini-cli',
  claude: '@agentclientprotocol/claude-agent-acp',
  codex: '@agentclientprotocol/codex-acp',
  opencode: 'OpenCode',
};
