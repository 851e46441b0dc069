import type { ToolServerDefinition } from '../../contracts/integrations/tool-server';
import { createRedactor } from '../../platform/log/redact';
import { agentEnvironment } from '../agents/local/agent-environment';
import { connect } from './connection';
import { httpTransport } from './http-transport';
import { OutputBudget } from './output-budget';
import { startProgram } from './program';
import { StdioTransport } from './stdio-transport';
import { type ToolServerConnection, type ToolServerEnvironment, ToolServerError } from './tool-server';

type Stdio = ToolServerDefinition['transport'] & { kind: 'stdio' };
type Http = ToolServerDefinition['transport'] & { kind: 'streamable-http' };

/**
 * Starts the program of a tool server, or reaches one over HTTP, and shakes hands with it. Credentials are resolved here, and are
 * in nothing that is returned or thrown.
 *
 * @throws ToolServerError within the start-up time of the definition, with nothing of the server left
 */
export async function openToolServer(
  definition: ToolServerDefinition,
  environment: ToolServerEnvironment,
): Promise<ToolServerConnection> {
  const variables = await variablesOf(definition, environment);
  const { transport } = definition;
  return transport.kind === 'stdio'
    ? openProgram({ definition, transport, variables }, environment)
    : openRemote({ definition, transport, variables }, environment);
}

interface Resolved<T> {
  definition: ToolServerDefinition;
  transport: T;
  /** The variable of each credential scope of the definition. */
  variables: ReadonlyMap<string, string>;
}

async function openProgram(
  { definition, transport, variables }: Resolved<Stdio>,
  { host }: ToolServerEnvironment,
): Promise<ToolServerConnection> {
  const { displayName } = definition;
  const { environmentKeys, command, args } = transport;
  const given = agentEnvironment(host, [...environmentKeys, ...variables.values()]);
  for (const [scope, variable] of variables) {
    assertPresent(given.variables[variable], { displayName, scope, variable });
  }
  const program = await startProgram(
    { displayName, command, args, variables: given.variables, secrets: given.secrets },
    host,
  );
  const budget = new OutputBudget();
  return connect({
    definition,
    transport: new StdioTransport(program, budget),
    budget,
    redact: createRedactor(given.secrets),
    lastWords: program.lastWords,
  });
}

async function openRemote(
  { definition, transport, variables }: Resolved<Http>,
  { host, allowPrivate }: ToolServerEnvironment,
): Promise<ToolServerConnection> {
  const { displayName, startupTimeoutMs, toolTimeoutMs } = definition;
  if (!allowPrivate && !transport.url.startsWith('https:')) {
    throw new ToolServerError({
      code: 'refused-address',
      message: `The tool server ${displayName} has an address without TLS.`,
      remedy: 'Name an address with https://, or start workers with BOARD_TOOL_SERVER_ALLOW_PRIVATE=true.',
    });
  }
  const headers: Record<string, string> = {};
  const secrets: string[] = [];
  for (const { name, environmentKey, credentialReference = '', prefix = '' } of transport.headers) {
    const variable = environmentKey ?? variables.get(credentialReference) ?? '';
    const value = agentEnvironment(host, [variable]).variables[variable];
    assertPresent(value, { displayName, scope: credentialReference, variable });
    secrets.push(value);
    headers[name] = `${prefix}${value}`;
  }
  const budget = new OutputBudget();
  return connect({
    definition,
    transport: httpTransport(
      {
        displayName,
        url: transport.url,
        headers,
        allowPrivate,
        timeoutMs: Math.max(startupTimeoutMs, toolTimeoutMs) + 5_000,
      },
      budget,
    ),
    budget,
    redact: createRedactor(secrets),
    lastWords: () => '',
  });
}

/** @throws ToolServerError when a scope of the definition may not be used now */
async function variablesOf(
  { displayName, transport }: ToolServerDefinition,
  { credentialVariables }: ToolServerEnvironment,
): Promise<Map<string, string>> {
  const all = transport.credentialReferences.length === 0 ? new Map<string, string>() : await credentialVariables();
  return new Map(
    transport.credentialReferences.map((scope) => {
      const variable = all.get(scope);
      if (variable === undefined) {
        throw new ToolServerError({
          code: 'credential-missing',
          message: `The tool server ${displayName} names the credential scope ${scope}, which is unknown or disabled.`,
          remedy: 'Add or enable the scope in the feature settings, at toolServers.credentialScopes.',
        });
      }
      return [scope, variable];
    }),
  );
}

interface Reference {
  displayName: string;
  scope: string;
  variable: string;
}

/** A server that misses its credential would refuse calls with a reason that does not name the variable. */
function assertPresent(
  value: string | undefined,
  { displayName, scope, variable }: Reference,
): asserts value is string {
  if (value === undefined || !/^[\t\x20-\x7e]*\S[\t\x20-\x7e]*$/.test(value)) {
    const of = scope === '' ? '' : ` of the credential scope ${scope}`;
    throw new ToolServerError({
      code: 'credential-missing',
      message: `The worker has no usable value of ${variable}${of}, which the tool server ${displayName} needs.`,
      remedy: `Start the worker with ${variable} in its environment.`,
    });
  }
}
