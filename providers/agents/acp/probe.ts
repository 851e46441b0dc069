import { randomUUID } from 'node:crypto';
import { chown } from 'node:fs/promises';
import type { InitializeResponse } from '@agentclientprotocol/sdk/unstable';
import type { AgentConfig } from '../../../contracts/settings/agent-config';
import { errorMessage } from '../../../platform/errors/app-error';
import { createRedactor } from '../../../platform/log/redact';
import { within } from '../../../platform/operations/within';
import { findCommand } from '../../../platform/processes/find-command';
import { findGroup } from '../../../platform/processes/identity';
import { endProcess } from '../../../platform/processes/kill-process-group';
import { withScratchDirectory } from '../../../platform/processes/scratch';
import { cut } from '../../../platform/text/cut';
import { agentEnvironment, type AgentHost } from '../local/agent-environment';
import { probeVariable } from '../local/end-attempt';
import { foundSandbox } from '../local/found-sandbox';
import { LastWords, withLastWords } from '../local/last-output';
import type { Line } from '../local/line-splitter';
import { pump } from '../local/pump';
import { spawnAgent, type SpawnedAgent } from '../local/spawn-agent';
import type { ProviderProbe } from '../provider';
import { canContainFiles } from './client/contained-files';
import { offerTo } from './client/offer';
import { type AcpConnection, connectAcp, longestFrame } from './connection';
import { AgentEndedError } from './failure';
import { handshake, handshakeMsOf } from './handshake';

/** A short grace: nothing depends on how the agent ends. */
const graceMs = 500;
/** How long an agent that reads no more may go on writing why, in milliseconds. */
const lastWordsMs = 1_000;

/** Starts the agent, shakes hands and ends it: the manifest states the capabilities it reports. */
export async function probeAcp(agent: AgentConfig, host: AgentHost): Promise<ProviderProbe> {
  const { variables, secrets, refused } = agentEnvironment(host, agent.environmentKeys);
  if (refused.length > 0) {
    return { ok: false, diagnostics: refused };
  }
  const command = findCommand(agent.command ?? '', variables.PATH ?? '');
  if ('problem' in command) {
    return { ok: false, diagnostics: [command.problem] };
  }
  try {
    const answer = await startForProbe(agent, { host, path: command.path }, (connection) =>
      handshake(connection, offerTo(agent), handshakeMsOf(agent)),
    );
    const found = await foundSandbox(host);
    return {
      ok: true,
      ...versionOf(answer),
      capabilities: capabilitiesOf(answer),
      ...found,
      diagnostics: [`Found ${command.path}.`, ...found.diagnostics],
    };
  } catch (error) {
    return { ok: false, diagnostics: [cut(createRedactor(secrets)(errorMessage(error)), 1_000)] };
  }
}

/** Starts the agent without work in a directory of its own, and ends it whatever comes of it. */
export async function startForProbe<T>(
  agent: AgentConfig,
  { host, path }: { host: AgentHost; path: string },
  use: (connection: AcpConnection, cwd: string) => Promise<T>,
): Promise<T> {
  const { variables } = agentEnvironment(host, agent.environmentKeys);
  // Not in a worktree: an agent that cannot wait to work finds nothing there.
  return withScratchDirectory('agent-probe', async (cwd) => {
    const { user } = host;
    if (user) {
      await chown(cwd, user.uid, user.gid);
    }
    const env = { ...variables, [probeVariable]: randomUUID() };
    const spawned = await spawnAgent({ path, args: agent.args, cwd, env, marker: probeVariable, user });
    const { connection, lastWords } = connect(spawned);
    try {
      return await use(connection, cwd);
    } catch (error) {
      throw error instanceof AgentEndedError
        ? new AgentEndedError(withLastWords(error.message, await lastWords()), { cause: error })
        : error;
    } finally {
      await endAll(spawned);
    }
  });
}

/** A connection to the agent that grants it nothing; `lastWords` waits for the end of what it writes to standard error. */
function connect(spawned: SpawnedAgent): { connection: AcpConnection; lastWords: () => Promise<string> } {
  const ended = new AbortController();
  const ignore = () => undefined;
  const connection = connectAcp(spawned, {
    notified: ignore,
    text: ignore,
    unknown: ignore,
    refused: ignore,
    permission: () => Promise.resolve({ outcome: { outcome: 'cancelled' } }),
  });
  void spawned.exited.finally(() => ended.abort());
  const listening = pump(spawned.stdout, (line) => connection.receive(line), {
    ended: ended.signal,
    longest: longestFrame,
  });
  const words = new LastWords();
  const recordLine = ({ content }: Line): undefined => {
    words.add(content.toString('utf8'));
  };
  const readingErrors = pump(spawned.stderr, recordLine, { ended: ended.signal });
  for (const pumping of [listening, readingErrors]) {
    pumping.catch(ignore);
  }
  void listening.finally(() => connection.end(new AgentEndedError('The agent ended before it was asked to.')));
  const lastWords = async (): Promise<string> => {
    await within(lastWordsMs, 'It still writes.', readingErrors).catch(ignore);
    return words.text;
  };
  return { connection, lastWords };
}

async function endAll(spawned: SpawnedAgent): Promise<void> {
  const { pid } = spawned.identity;
  await endProcess([spawned.identity, ...(await findGroup(pid))], { graceMs });
  spawned.release();
}

const versionOf = ({ agentInfo }: InitializeResponse) =>
  agentInfo?.version ? { version: cut(`${agentInfo.name} ${agentInfo.version}`, 200) } : {};

/** What holds for an agent that reads, writes and runs nothing but by way of us. */
const confinedCapabilities = ['tool.calls', 'run.approvals', 'filesystem.deny-paths', 'filesystem.descendants'];

/**
 * Whether the agent declares that it has no files and commands but ours. The protocol has no field for it; without one, nothing
 * shows that an agent does not use tools of its own.
 */
const usesClientTools = (abilities: InitializeResponse['agentCapabilities']): boolean =>
  canContainFiles && abilities?._meta?.['runboard/tools'] === 'client';

/** What follows from the handshake; everything else the protocol always has is the family's. */
function capabilitiesOf({ agentCapabilities }: InitializeResponse): string[] {
  const sessions = agentCapabilities?.sessionCapabilities;
  const capabilities: string[] = [];
  if (agentCapabilities?.loadSession === true || sessions?.resume) {
    capabilities.push('run.resume', 'run.follow-up');
  }
  if (sessions?.close) {
    capabilities.push('run.close');
  }
  if (sessions?.fork) {
    capabilities.push('run.fork');
  }
  if (sessions?.archive) {
    capabilities.push('run.archive');
  }
  if (usesClientTools(agentCapabilities)) {
    capabilities.push(...confinedCapabilities);
  }
  return capabilities;
}
