/**
 * Settings for every command, over those that are allowed at all (`settings/allowed.ts`): no program is run unless
 * we asked for it, and what git prints is what is read.
 */
export const hardening = [
  ['core.hooksPath', '/dev/null'],
  ['protocol.ext.allow', 'never'],
  ['core.fsmonitor', 'false'],
  // It is given a path to run with: `true` ignores it.
  ['core.alternateRefsCommand', 'true'],
  ['submodule.recurse', 'false'],
  ['commit.gpgSign', 'false'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['core.quotePath', 'false'],
  ['core.safecrlf', 'false'],
  ['core.splitIndex', 'false'],
  ['advice.addEmbeddedRepo', 'false'],
].map(([name, value]) => `${name}=${value}`);

/** The author of the commits that store baselines and attempts. */
const identity = {
  GIT_AUTHOR_NAME: 'Runboard',
  GIT_AUTHOR_EMAIL: 'runboard@localhost',
  GIT_COMMITTER_NAME: 'Runboard',
  GIT_COMMITTER_EMAIL: 'runboard@localhost',
};

const inherited = ['PATH', 'HOME', 'XDG_CONFIG_HOME', 'TMPDIR'] as const;

/** What is needed besides to reach a remote as the user does: the ssh agent, keyrings, proxies and certificates. */
const inheritedByTransfers = [
  'SSH_AUTH_SOCK',
  'DBUS_SESSION_BUS_ADDRESS',
  'XDG_RUNTIME_DIR',
  'GNUPGHOME',
  ...['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'].flatMap((name) => [name, name.toUpperCase()]),
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'GIT_SSL_CAINFO',
  'GIT_SSH_COMMAND',
] as const;

const pick = (names: readonly string[]): NodeJS.ProcessEnv =>
  Object.fromEntries(names.map((name) => [name, process.env[name]]));

/**
 * The environment of a git command. Only what is listed: an inherited GIT_DIR would make it work on something else.
 *
 * @param env which repository it is about, and what else the command needs
 */
export function gitEnvironment(env: Record<string, string>): NodeJS.ProcessEnv {
  return {
    ...pick(inherited),
    ...identity,
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_EDITOR: ':',
    GIT_SEQUENCE_EDITOR: ':',
    GIT_ALLOW_PROTOCOL: 'file:git:http:https:ssh',
    ...env,
  };
}

/** The environment of a command that talks to a remote: it reaches it as the user does, and never asks anything. */
export function transferEnvironment(repository: Record<string, string>, ownSshCommand: boolean): NodeJS.ProcessEnv {
  const environment: NodeJS.ProcessEnv = {
    ...gitEnvironment(repository),
    ...pick(inheritedByTransfers),
    GIT_ASKPASS: '',
  };
  // What the user configured may not be OpenSSH, and then knows no such option.
  if (ownSshCommand || environment.GIT_SSH_COMMAND !== undefined) {
    return environment;
  }
  return { ...environment, GIT_SSH_COMMAND: 'ssh -o BatchMode=yes' };
}

/** Arguments that set configuration for one command. */
export const configured = (settings: readonly string[]): string[] => settings.flatMap((setting) => ['-c', setting]);
