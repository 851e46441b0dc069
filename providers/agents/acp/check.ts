import type { InitializeResponse } from '@agentclientprotocol/sdk/unstable';
import type { CheckStep } from '../../../contracts/settings/agent-check';
import type { AgentConfig } from '../../../contracts/settings/agent-config';
import type { SessionOffer } from '../../../contracts/settings/session-offer';
import { compact } from '../../../platform/json/compact';
import { createRedactor } from '../../../platform/log/redact';
import { within } from '../../../platform/operations/within';
import { findCommand } from '../../../platform/processes/find-command';
import { agentEnvironment, type AgentHost, toolServerSecrets } from '../local/agent-environment';
import { agentFindings } from '../local/agent-findings';
import { CheckFindings } from '../local/check-findings';
import type { ProviderCheck } from '../provider';
import { authenticate } from './authenticate';
import { offerTo } from './client/offer';
import type { AcpConnection } from './connection';
import { AcpFailure, agentMessage, refusedLogin } from './failure';
import { handshake, handshakeMsOf } from './handshake';
import { startForProbe } from './probe';
import { chooseOptions } from './session-options';
import { toolServersFor } from './tool-servers';

/** How long an agent may take to open a session, in milliseconds. */
const sessionMs = 120_000;

/** Starts the agent, shakes hands, authenticates, opens a session, and ends it: what a launch does before its first prompt. */
export async function checkAcp(agent: AgentConfig, host: AgentHost): Promise<ProviderCheck> {
  const { variables, secrets } = agentEnvironment(host, agent.environmentKeys);
  const findings = new CheckFindings(createRedactor([...secrets, ...toolServerSecrets(agent, host)]));
  const [first, ...others] = agentFindings(agent, host).filter(({ code }) => !code.startsWith('tool-server'));
  const command = findCommand(agent.command ?? '', variables.PATH ?? '');
  if (first || 'problem' in command) {
    findings.notInstalled([first ?? { code: 'agent-program-missing', message: 'It was just removed.' }, ...others]);
    return { findings: findings.all() };
  }
  findings.ok('installed', `Found ${command.path}.`);
  const progress: Progress = { step: 'handshake' };
  try {
    const offer = await startForProbe(agent, { host, path: command.path }, (connection, cwd) =>
      converse({ agent, host, findings, progress }, connection, cwd),
    );
    return { findings: findings.all(), offer };
  } catch (error) {
    const cause = refusedLogin(error, agent, progress.introduction);
    const isLogin = cause instanceof AcpFailure && cause.code.startsWith('authentication-');
    const { reason, remedy } =
      cause instanceof AcpFailure ? cause : { reason: agentMessage(cause), remedy: remedies[progress.step] };
    findings.failed(isLogin ? 'authentication' : progress.step, `${reason}.`, remedy);
    return { findings: findings.all() };
  }
}

/** The step in progress, which an error is about. */
interface Progress {
  step: Extract<CheckStep, keyof typeof remedies>;
  introduction?: InitializeResponse;
}

const remedies = {
  handshake: 'run its command on the host as the user of its agents, and read what it prints.',
  authentication: 'log in with the program of the agent on the host, as the user of its agents.',
  session: 'read the message, and run the agent on the host as the user of its agents.',
} as const;

interface Checked {
  agent: AgentConfig;
  host: AgentHost;
  findings: CheckFindings;
  progress: Progress;
}

async function converse(
  { agent, host, findings, progress }: Checked,
  connection: AcpConnection,
  cwd: string,
): Promise<SessionOffer> {
  const introduction = await handshake(connection, offerTo(agent), handshakeMsOf(agent));
  progress.introduction = introduction;
  const { agentInfo, agentCapabilities } = introduction;
  findings.ok('handshake', `It speaks version ${introduction.protocolVersion} of the protocol.`);
  if (agentInfo?.version) {
    findings.ok('version', `${agentInfo.name} ${agentInfo.version}`);
  } else {
    findings.skipped('version', 'The agent reports no version.');
  }

  progress.step = 'authentication';
  await authenticate(connection, agent, introduction);
  if (agent.authMethod === undefined) {
    findings.skipped(
      'authentication',
      'No authMethod is configured: the agent uses a login or variables of its own. One that is missing may show at its first prompt only.',
    );
  } else {
    findings.ok('authentication', `Authenticated with ${agent.authMethod}.`);
  }

  progress.step = 'session';
  const { servers: mcpServers, leftOut } = toolServersFor(agent, host, agentCapabilities?.mcpCapabilities);
  const late = new Error(`The agent did not open a session within ${sessionMs / 1_000} seconds`);
  const response = await within(sessionMs, late, connection.agent.request('session/new', { cwd, mcpServers }));
  const { sessionId } = response;
  const chosen = { ...compact({ model: agent.model, mode: agent.mode }), isModelRequested: false };
  const offer = await chooseOptions(connection, { sessionId, response }, chosen);
  const opened = `It opened a session with ${offer.models.length} models and ${offer.modes.length} modes.`;
  const omitted =
    leftOut.length === 0 ? [] : ['Optional tool servers were left out:', ...leftOut.map((one) => `${one}.`)];
  findings.ok('session', [opened, ...omitted].join(' '));
  return offer;
}
