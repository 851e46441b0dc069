import type { z } from 'zod';
import type { AgentConfig } from '../../contracts/settings/agent-config';
import type {
  AgentFromPreset,
  AgentPreset,
  PresetDetection,
  presetPackage,
} from '../../contracts/settings/agent-preset';
import { npxDownloads } from './presets';

type Authentication = AgentPreset['authentication'][number];
type Package = z.infer<typeof presetPackage>;

/** How long the start of a package may take that is downloaded first, in seconds. */
const downloadSeconds = 300;
/** How many hosts one sentence names. */
const maxNamed = 10;

/** A field of the request that does not fit the preset. */
interface Misfit {
  path: string;
  message: string;
  code: string;
}

export type ConfiguredPreset = { agent: unknown; requirements: string[] } | { issues: Misfit[] };

/** The agent that a request makes of a preset, by what the live hosts have, and what is left to do for it. */
export function configurePreset(
  preset: AgentPreset,
  request: AgentFromPreset,
  hosts: readonly PresetDetection[],
): ConfiguredPreset {
  const authentication = authenticationOf(preset, request, hosts);
  const issues = misfits(preset, request);
  if (!authentication || issues.length > 0) {
    return { issues };
  }
  const fetched = packageOf(preset, request, hosts);
  const { preset: _preset, run: _run, authentication: _authentication, ...chosen } = request;
  const agent = {
    type: preset.id,
    name: preset.name,
    provider: 'acp' satisfies AgentConfig['provider'],
    ...(fetched
      ? { command: 'npx', args: ['-y', `${fetched.name}@${fetched.version}`, ...preset.args] }
      : { command: preset.command, args: preset.args }),
    ...(fetched ? { handshakeSeconds: downloadSeconds } : {}),
    environmentKeys: keysOf(authentication, hosts),
    ...(authentication.authMethod === null ? {} : { authMethod: authentication.authMethod }),
    ...chosen,
    // The arguments after the package are the request's where it has some.
    ...(fetched && request.args ? { args: ['-y', `${fetched.name}@${fetched.version}`, ...request.args] } : {}),
  };
  return {
    agent,
    requirements: [
      ...preset.requirements.filter((sentence) => fetched !== undefined || sentence !== npxDownloads),
      ...programRequirements(preset, { fetched, named: request.command !== undefined }, hosts),
      ...authenticationRequirements(preset, { authentication, keys: agent.environmentKeys }, hosts),
    ],
  };
}

function misfits(preset: AgentPreset, { run, authentication, command }: AgentFromPreset): Misfit[] {
  const misfit = (path: string, message: string) => ({ path, message, code: 'preset' });
  const offered = preset.authentication.map(({ id }) => id);
  return [
    ...(run === 'package' && preset.packages.length === 0
      ? [misfit('run', `the preset ${preset.id} has no package`)]
      : []),
    ...(run === 'package' && command !== undefined ? [misfit('command', 'is not used where a package is run')] : []),
    ...(authentication !== undefined && !offered.includes(authentication)
      ? [misfit('authentication', `the preset ${preset.id} has ${offered.join(', ')}`)]
      : []),
  ];
}

/** The one that is requested, else one that a host has the means of, else the first. */
function authenticationOf(
  { authentication }: AgentPreset,
  request: AgentFromPreset,
  hosts: readonly PresetDetection[],
): Authentication | undefined {
  const isAtHand = ({ id, environmentKeys }: Authentication): boolean =>
    hosts.some((host) =>
      id === 'login' ? host.login === true : environmentKeys.some((key) => host.environmentKeys.includes(key)),
    );
  return request.authentication === undefined
    ? (authentication.find(isAtHand) ?? authentication[0])
    : authentication.find(({ id }) => id === request.authentication);
}

/** The package to run; none where the program is to be, or is installed on every live host. */
function packageOf(
  { packages }: AgentPreset,
  { run, command }: AgentFromPreset,
  hosts: readonly PresetDetection[],
): Package | undefined {
  const isInstalled = hosts.length > 0 && hosts.every(({ path }) => path !== null);
  if (run === 'program' || command !== undefined || (run === undefined && isInstalled)) {
    return undefined;
  }
  const node = Math.min(...hosts.map((host) => host.node));
  return packages.find((one) => hosts.length > 0 && one.node <= node) ?? packages.at(-1);
}

/** The variables that hosts have, or all that may be used where none has one. */
function keysOf({ environmentKeys, settingKeys }: Authentication, hosts: readonly PresetDetection[]): string[] {
  const present = environmentKeys.filter((key) => hosts.some((host) => host.environmentKeys.includes(key)));
  return [...(present.length > 0 ? present : environmentKeys), ...settingKeys];
}

const on = (hosts: readonly PresetDetection[]): string => {
  const names = hosts.slice(0, maxNamed).map(({ hostId }) => hostId);
  const more = hosts.length - names.length;
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
};

function programRequirements(
  { command }: AgentPreset,
  { fetched, named }: { fetched: Package | undefined; named: boolean },
  hosts: readonly PresetDetection[],
): string[] {
  if (hosts.length === 0) {
    return ['No live host has reported what it has: what is missing is not known.'];
  }
  const lacking = fetched ? hosts.filter(({ npx }) => !npx) : hosts.filter(({ path }) => path === null);
  const old = hosts.filter(({ node }) => fetched !== undefined && node < fetched.node);
  return [
    ...(lacking.length > 0 && !named
      ? [`Install \`${fetched ? 'npx' : command}\` where the PATH of the worker has none: ${on(lacking)}.`]
      : []),
    ...(old.length > 0 ? [`Install Node ${fetched?.node} or later where the worker's is older: ${on(old)}.`] : []),
  ];
}

function authenticationRequirements(
  { login }: AgentPreset,
  { authentication, keys }: { authentication: Authentication; keys: readonly string[] },
  hosts: readonly PresetDetection[],
): string[] {
  const { id, environmentKeys } = authentication;
  if (id === 'key') {
    const without = hosts.filter((host) => !host.environmentKeys.some((key) => keys.includes(key)));
    const listed = environmentKeys.map((key) => `\`${key}\``).join(' or ');
    return without.length > 0 ? [`Set ${listed} for the worker and start it again: ${on(without)}.`] : [];
  }
  const without = hosts.filter((host) => host.login === false);
  return id === 'login' && login !== null && without.length > 0
    ? [`Run \`${login}\` as the user that agents run as, where no login was found: ${on(without)}.`]
    : [];
}
