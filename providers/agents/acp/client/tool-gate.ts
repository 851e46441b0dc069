import type { RequestPermissionRequest } from '@agentclientprotocol/sdk/unstable';
import { z } from 'zod';
import { decideTool, type ToolRules, type ToolUse, type ToolVerdict } from '../../../../domain/tools/rules';
import { compact } from '../../../../platform/json/compact';
import { pathInWorktree } from './contained-files';

const input = z.looseObject({
  command: z.union([z.string(), z.array(z.string())]).optional(),
  args: z.array(z.string()).optional(),
  url: z.string().optional(),
});

/** The subject of a permission request, as far as it states one. */
export function toolUseOf({ toolCall }: RequestPermissionRequest, worktreePath: string): ToolUse {
  const { kind = null, name, locations, content, rawInput } = toolCall;
  const diffs = (content ?? []).flatMap((item) => (item.type === 'diff' ? [item.path] : []));
  const paths = [...(locations ?? []).map(({ path }) => path), ...diffs];
  const { data } = input.safeParse(rawInput ?? {});
  const command = commandOf(data?.command, data?.args ?? []);
  const host = hostOf(data?.url);
  return {
    kind: kind === 'other' ? null : kind,
    names: typeof name === 'string' ? [name] : [],
    ...(paths.length > 0 ? { paths: paths.map((path) => placeOf(worktreePath, path)) } : {}),
    ...compact({ command, host }),
  };
}

/** The worktree itself counts as inside; `*` would be no path at all. */
const placeOf = (worktreePath: string, path: string): string | null =>
  path === worktreePath ? '.' : pathInWorktree(worktreePath, path);

/** A line for a shell is no command whose effect could be known. */
function commandOf(command: string | string[] | undefined, args: string[]): ToolUse['command'] {
  if (command === undefined) {
    return undefined;
  }
  const [name, ...rest] = typeof command === 'string' ? [command] : command;
  if (name === undefined) {
    return undefined;
  }
  if (typeof command !== 'string') {
    return { name, args: rest };
  }
  if (/[|&;<>()$`\\"'\n*?[\]#~=%!{}]/.test(name)) {
    return undefined;
  }
  const [first = '', ...words] = name.trim().split(/\s+/);
  return { name: first, args: [...words, ...args] };
}

function hostOf(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url).host : undefined;
}

/** Decides on what an agent wants to do by the rules of its run, as they are now; what cannot be found out is denied. */
export async function decide(
  rules: () => Promise<ToolRules>,
  use: (rules: ToolRules) => ToolUse,
): Promise<ToolVerdict> {
  try {
    const current = await rules();
    const used = use(current);
    const verdict = decideTool(current, used);
    if (verdict.verdict === 'deny' || !current.asks) {
      return verdict;
    }
    const ruled = await current.asks(used);
    return ruled.verdict === 'allow' ? verdict : ruled;
  } catch {
    return { verdict: 'deny', rule: 'policy', reason: 'The rules of the run cannot be read. Try again.' };
  }
}
