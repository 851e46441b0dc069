import type { TrustEntryKind } from '../../contracts/runs/trust';

/** Instructions that agents read in every directory they work in. */
export const nestedInstructions = [
  'AGENTS.md',
  'AGENTS.override.md',
  'CLAUDE.md',
  'CLAUDE.local.md',
  'GEMINI.md',
  'QWEN.md',
] as const;

/** Files at the top of a workspace that agents, or what starts them, load by themselves. */
export const rootFiles: Record<string, TrustEntryKind> = {
  '.cursorrules': 'instructions',
  '.windsurfrules': 'instructions',
  '.clinerules': 'instructions',
  '.goosehints': 'instructions',
  '.rules': 'instructions',
  '.github/copilot-instructions.md': 'instructions',
  '.mcp.json': 'tools',
  '.vscode/mcp.json': 'tools',
  '.aider.conf.yml': 'configuration',
  'opencode.json': 'configuration',
  'opencode.jsonc': 'configuration',
  '.envrc': 'hooks',
};

/** Directories at the top of a workspace that belong to agents altogether. */
export const agentDirectories = [
  '.agents',
  '.amazonq',
  '.claude',
  '.clinerules',
  '.codex',
  '.continue',
  '.cursor',
  '.gemini',
  '.github/agents',
  '.github/instructions',
  '.goose',
  '.junie',
  '.kiro',
  '.opencode',
  '.qwen',
  '.roo',
  '.windsurf',
] as const;

/** Directories that other tools share, with something for agents in them: as a link, they bring unreviewed files. */
export const parentDirectories = ['.github', '.vscode'] as const;

const tools = /(?:^|\/)(?:mcp[^/]*\.json|(?:tools?|plugins?|skills?|commands?)(?:\/|$))/i;

/** What a file does to an agent that finds it in its workspace; `undefined` when agents take it for what it is, a file. */
export function trustKindOf(path: string): TrustEntryKind | undefined {
  const rooted = Object.hasOwn(rootFiles, path) ? rootFiles[path] : undefined;
  if (rooted !== undefined) {
    return rooted;
  }
  const directory = agentDirectories.find((name) => path === name || path.startsWith(`${name}/`));
  if (directory !== undefined) {
    const rest = path.slice(directory.length);
    if (/\/hooks?(?:[/.]|$)/i.test(rest)) {
      return 'hooks';
    }
    if (tools.test(rest)) {
      return 'tools';
    }
    return /\.(?:md|mdc|txt)$/i.test(rest) ? 'instructions' : 'configuration';
  }
  return isNestedInstruction(path) ? 'instructions' : undefined;
}

/** Whether a path, or a directory that ends with a slash, has a name that agents search in every directory. */
export function isNestedInstruction(path: string): boolean {
  const name = path.replace(/\/$/, '').split('/').at(-1);
  return nestedInstructions.some((instructions) => instructions === name);
}
