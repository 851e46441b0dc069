import type { AgentConfig } from '../../contracts/settings/agent-config';
import type { AgentPreset, PresetId } from '../../contracts/settings/agent-preset';

type Authentication = AgentPreset['authentication'][number];

const withKey = (keys: string[], authMethod: string | null, description: string): Authentication => ({
  id: 'key',
  description,
  environmentKeys: keys,
  settingKeys: [],
  authMethod,
});

const withLogin = (description: string): Authentication => ({
  id: 'login',
  description,
  environmentKeys: [],
  settingKeys: [],
  authMethod: null,
});

const withoutAny = (description: string): Authentication => ({ ...withLogin(description), id: 'none' });

/** Holds only where the package is run. */
export const npxDownloads =
  'Started through npx, its package is fetched from the npm registry by the first start on each host, which handshakeSeconds waits for.';

/** The agents of today, with what each was seen to need. Versions are those that were tested. */
export const agentPresets: readonly AgentPreset[] = [
  {
    id: 'gemini',
    name: 'Gemini CLI',
    description: "Google's Gemini CLI speaks the protocol by itself.",
    command: 'gemini',
    args: ['--acp'],
    packages: [{ name: '@google/gemini-cli', version: '0.61.0', node: 20 }],
    authentication: [
      withKey(['GEMINI_API_KEY'], 'gemini-api-key', 'A key of the Gemini API.'),
      withLogin('A login with a Google account, made with `gemini` in a terminal.'),
    ],
    login: 'gemini',
    requirements: [
      npxDownloads,
      'It switches to modes that approve by themselves only in a folder it trusts: name GEMINI_CLI_TRUST_WORKSPACE in environmentKeys and set it to true for the worker.',
    ],
    tested: 'package',
  },
  {
    id: 'claude',
    name: 'Claude Code',
    description: 'Claude Code by way of its adapter, which brings the program it starts as a package of the platform.',
    command: 'claude-agent-acp',
    args: [],
    packages: [
      { name: '@agentclientprotocol/claude-agent-acp', version: '0.101.0', node: 22 },
      { name: '@agentclientprotocol/claude-agent-acp', version: '0.49.0', node: 20 },
    ],
    authentication: [
      withKey(['ANTHROPIC_API_KEY'], null, 'A key of the Anthropic API.'),
      withLogin('A login with `claude` in a terminal.'),
    ],
    login: 'claude',
    requirements: [
      npxDownloads,
      'It opens a session without a login and refuses the first prompt: the doctor cannot see a missing login.',
      'The program `claude` for its login is a package of its own, @anthropic-ai/claude-code.',
    ],
    tested: 'package',
  },
  {
    id: 'codex',
    name: 'Codex',
    description: 'Codex by way of its adapter, which brings Codex itself as a package of the platform.',
    command: 'codex-acp',
    args: [],
    packages: [{ name: '@agentclientprotocol/codex-acp', version: '2.6.0', node: 20 }],
    authentication: [
      withKey(['OPENAI_API_KEY'], 'api-key', 'A key of the OpenAI API; it counts only with the method api-key.'),
      withLogin('A login with `codex login` in a terminal.'),
    ],
    login: 'codex login',
    requirements: [npxDownloads, 'Its method chat-gpt opens a browser; use `codex login` on the host instead.'],
    tested: 'package',
  },
  {
    id: 'opencode',
    name: 'OpenCode',
    description: 'OpenCode speaks the protocol by itself.',
    command: 'opencode',
    args: ['acp'],
    packages: [{ name: 'opencode-ai', version: '1.18.33', node: 20 }],
    authentication: [
      withLogin('A login with `opencode auth login` in a terminal.'),
      withKey(
        ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY'],
        null,
        'A key of a provider that OpenCode knows.',
      ),
      withoutAny('The free models of OpenCode Zen.'),
    ],
    login: 'opencode auth login',
    requirements: [
      npxDownloads,
      'Its package puts the program of the platform in place with an install script; where npm runs none, use `bin/opencode` of opencode-linux-x64 (or of your platform) as command.',
      'It speaks to a server of its own on 127.0.0.1: behind a proxy, set NO_PROXY to 127.0.0.1,localhost for the worker and name it in environmentKeys, or no session opens.',
    ],
    tested: 'package',
  },
  {
    id: 'goose',
    name: 'Goose',
    description: 'Goose speaks the protocol by itself.',
    command: 'goose',
    args: ['acp'],
    packages: [],
    authentication: [
      withLogin('A provider and its key, chosen with `goose configure` in a terminal.'),
      {
        ...withKey(
          ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GOOGLE_API_KEY'],
          null,
          'GOOSE_PROVIDER, GOOSE_MODEL and the key of that provider.',
        ),
        settingKeys: ['GOOSE_PROVIDER', 'GOOSE_MODEL'],
      },
    ],
    login: 'goose configure',
    requirements: [
      'It is in no package registry: install it as https://block.github.io/goose describes.',
      'It was tested with a transcript that was written from its documentation, and not with the program itself.',
      'It takes tool servers of the types stdio and http, and none of sse.',
    ],
    tested: 'transcript',
  },
  {
    id: 'acp',
    name: 'Agent Client Protocol',
    description: 'Any other program that speaks version 1 of the protocol on its standard streams.',
    command: null,
    args: [],
    packages: [],
    authentication: [withoutAny('As the agent documents it.')],
    login: null,
    requirements: ['The request names its command; the doctor lists the methods of authentication it offers.'],
    tested: 'protocol',
  },
];

/** Names by which the programs of presets introduce themselves in their handshake. */
const introduced: Readonly<Record<string, PresetId>> = {
  'gemini-cli': 'gemini',
  '@agentclientprotocol/claude-agent-acp': 'claude',
  '@zed-industries/claude-code-acp': 'claude',
  '@agentclientprotocol/codex-acp': 'codex',
  opencode: 'opencode',
  goose: 'goose',
};

/** The preset whose program or package a configured agent starts. */
export const presetStartedBy = ({ command, args }: Pick<AgentConfig, 'command' | 'args'>): AgentPreset | undefined =>
  agentPresets.find(
    (preset) =>
      preset.command !== null &&
      (command?.split('/').at(-1) === preset.command ||
        preset.packages.some(({ name }) => args.some((arg) => arg === name || arg.startsWith(`${name}@`)))),
  );

/**
 * Whether the agent may not be offered to read files through us. Gemini CLI takes the response that a file does not exist for a
 * failure, whichever error it is, and so would write no new file.
 */
export const readsByItself = (agent: Pick<AgentConfig, 'command' | 'args'>): boolean =>
  presetStartedBy(agent)?.id === 'gemini';

export const findPreset = (id: PresetId): AgentPreset | undefined => agentPresets.find((preset) => preset.id === id);

/** The preset of an agent, by the name in its handshake. */
export function presetOf(agentName: string | undefined): AgentPreset | undefined {
  const id = introduced[(agentName ?? '').toLowerCase()];
  return id && findPreset(id);
}
