import { foldersIn } from './repository';

/** The groups of resources, the same ones in every layer. */
export const groups = [
  'system',
  'identity',
  'tasks',
  'chat',
  'governance',
  'knowledge',
  'settings',
  'integrations',
  'runs',
];

export const topLevel = [
  ...[
    'api',
    'activities',
    'cli',
    'clients',
    'contracts',
    'domain',
    'mcp',
    'platform',
    'providers',
    'services',
    'stores',
    'web',
    'worker',
    'workflows',
  ],
  ...['bench', 'deploy', 'docs', 'examples', 'scripts', 'test'],
  ...['CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'README.md', 'SECURITY.md'],
  ...['Dockerfile', 'docker-compose.yml', '.dockerignore', '.env.example'],
  ...['package.json', 'package-lock.json', '.npmrc', '.nvmrc', 'tsconfig.json', 'tsconfig.build.json'],
  ...[
    'eslint.config.mjs',
    'jest.config.js',
    'jest.mutation.config.cjs',
    'stryker.config.mjs',
    '.oxlintrc.json',
    '.prettierignore',
  ],
  ...['.ci', '.editorconfig', '.github', '.gitignore', '.vscode'],
];

/** Resources that are a part of an area, by their name in the singular: `group/resource` to the area. */
const parts: Record<string, string> = {
  'chat/adapter-channel': 'adapters',
  'chat/adapter-definition': 'adapters',
  'chat/adapter-delivery': 'adapters',
  'chat/adapter-mapping': 'adapters',
  'chat/community-event': 'adapters',
  'governance/permission-approval': 'agent-permissions',
  'identity/pairing-code': 'devices',
  'integrations/forge': 'github',
  'integrations/forge-webhook': 'issue-sync',
  'integrations/pull-request': 'github',
  'integrations/issue-mapping': 'issue-sync',
  'integrations/tool-discovery': 'tool-servers',
  'knowledge/prompt-usage': 'prompts',
  'settings/budget': 'settings',
  'integrations/tool-call': 'tool-servers',
  'integrations/tool-catalog': 'tool-servers',
  'integrations/workflow-tool': 'tool-servers',
  'runs/attempt-handle': 'attempts',
  'runs/callback-secret': 'reports',
  'runs/claim': 'reports',
  'runs/command': 'control',
  'runs/completion': 'reports',
  'runs/conflict-resolution': 'conflicts',
  'runs/host': 'launch',
  'runs/scheduled-deliverable-run': 'scheduled-deliverables',
  'runs/host-manifest': 'launch',
  'settings/agent-check': 'config',
  'settings/agent-config': 'config',
  'settings/agent-preset': 'config',
  'settings/agent-registry': 'routing',
  'settings/agent-support': 'config',
  'settings/profile': 'config',
  'settings/repository': 'config',
  'settings/session-offer': 'config',
  'settings/team-roster': 'routing',
  'settings/tool-server': 'config',
  'settings/withheld-variables': 'config',
  'system/page': 'index',
  'system/watch': 'feed',
};

/** What HTTP itself stores for all areas. */
export const withoutArea = new Set([
  'stores/system/credential-key-store.ts',
  'stores/system/idempotency-key-store.ts',
  'stores/system/message-key-store.ts',
  'stores/system/rate-count-store.ts',
]);

export const areasOf = (group: string): string[] => foldersIn(`api/${group}`);

const irregular: Record<string, string> = { child: 'children' };

const pluralOf = (name: string): string =>
  irregular[name] ?? (name.endsWith('y') ? `${name.slice(0, -1)}ies` : `${name}s`);

/** Whether this is the name of an area of the group, in the singular or plural, or of a part of one. */
export function namesArea(group: string, name: string): boolean {
  const areas = areasOf(group);
  const singular = Object.keys(parts).find(
    (part) => part === `${group}/${name}` || pluralOf(part) === `${group}/${name}`,
  );
  const part = singular === undefined ? undefined : parts[singular];
  return [name, pluralOf(name), part].some((candidate) => candidate !== undefined && areas.includes(candidate));
}
