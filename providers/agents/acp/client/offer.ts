import { randomUUID } from 'node:crypto';
import type { ClientCapabilities } from '@agentclientprotocol/sdk/unstable';
import type { AgentConfig } from '../../../../contracts/settings/agent-config';
import { readsByItself } from '../../../../domain/agents/presets';
import { compact } from '../../../../platform/json/compact';
import type { RunSandbox } from '../../../sandbox/run-sandbox';
import { agentEnvironment, type AgentHost } from '../../local/agent-environment';
import { attemptVariable } from '../../local/end-attempt';
import type { AgentDispatch } from '../../provider';
import type { PermissionDecider } from '../permission';
import { ClientTools, type ClientToolsOptions } from './client-tools';
import { canContainFiles, ContainedFiles } from './contained-files';
import { Terminals } from './terminals';

/**
 * What we offer an agent: files of its worktree and commands in it. An agent whose command confines it (`hostEnforced`) gets
 * no terminals: ours would be outside of what confines it. One that cannot cope with an offer does without it.
 */
export function offerTo(agent: Pick<AgentConfig, 'hostEnforced' | 'command' | 'args'>): ClientCapabilities {
  const { hostEnforced = [] } = agent;
  return {
    fs: { readTextFile: canContainFiles && !readsByItself(agent), writeTextFile: canContainFiles },
    terminal: canContainFiles && hostEnforced.length === 0,
  };
}

/** The tools of one run, with the terminals that have to be closed at its end. */
export function clientTools(
  dispatch: AgentDispatch,
  host: AgentHost,
  {
    people,
    sessionId,
    record,
    sandbox,
  }: {
    people: PermissionDecider;
    sessionId: () => string | undefined;
    record: ClientToolsOptions['record'];
    /** Of the agent: what it has us start is started in the same. */
    sandbox?: RunSandbox | undefined;
  },
): { tools: ClientTools; terminals: Terminals } {
  const { agent, attemptId, taskId, worktreePath, worktreeIdentity: identity, stopGraceMs, rules } = dispatch;
  const terminals = new Terminals({ graceMs: stopGraceMs, user: host.user, ...compact({ confine: sandbox?.wrap }) });
  const tools = new ClientTools({
    worktreePath,
    rules,
    files: new ContainedFiles({ worktreePath, identity }, host.user),
    terminals,
    record,
    environment: (withCredentials) => ({
      ...agentEnvironment(host, withCredentials ? agent.environmentKeys : []).variables,
      GIT_OPTIONAL_LOCKS: '0',
      GIT_PAGER: 'cat',
      PAGER: 'cat',
      BOARD_TASK_ID: taskId,
      [attemptVariable]: attemptId,
      ...sandbox?.environment,
    }),
    async approve({ kind, names }, title, signal) {
      const question = { attemptId, taskId, title: `${names[0] ?? ''} ${title}`, toolKind: kind, options };
      const origin = { sessionId: sessionId(), toolCallId: randomUUID() };
      return (await people.decide(question, signal, origin)).optionId === 'allow';
    },
  });
  return { tools, terminals };
}

const options = [
  { id: 'allow', name: 'Allow once', kind: 'allow_once' },
  { id: 'reject', name: 'Reject', kind: 'reject_once' },
];
