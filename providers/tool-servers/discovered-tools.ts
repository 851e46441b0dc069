import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import type { DiscoveredTool, ToolServerDefinition } from '../../contracts/integrations/tool-server';
import { actionName } from '../../contracts/name-pattern';
import { toolAccessOf } from '../../domain/tool-servers/tool-access';
import { compact } from '../../platform/json/compact';
import { schemaProblem } from '../../platform/json/untrusted-schema';
import { cut } from '../../platform/text/cut';
import { printable } from '../../platform/text/printable';
import { toolLimits } from './limits';
import { request, type Requesting } from './requests';
import { type ListedTools, ToolServerError } from './tool-server';

const jsonObject = z.record(z.string(), z.unknown());

const page = z.object({
  tools: z.array(
    z.object({
      name: actionName,
      title: z.string().optional(),
      description: z.string().optional(),
      inputSchema: jsonObject,
      outputSchema: jsonObject.optional(),
      annotations: jsonObject.optional(),
    }),
  ),
  nextCursor: z.string().max(4_096).optional(),
});
type SentTool = z.infer<typeof page>['tools'][number];

interface Listing {
  definition: ToolServerDefinition;
  signal: AbortSignal;
  timeoutMs: number;
}

/** Reads all tools of a server, page by page, and checks each. @throws ToolServerError when they are not usable as they are */
export async function listAllTools(requesting: Requesting, listing: Listing): Promise<ListedTools> {
  const collected = new Collected(requesting, listing.definition);
  const deadline = performance.now() + listing.timeoutMs;
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (let pages = 1; ; pages += 1) {
    const { tools, nextCursor } = await request(requesting, {
      method: 'tools/list',
      params: compact({ cursor }),
      result: page,
      signal: listing.signal,
      timeoutMs: Math.max(1, Math.ceil(deadline - performance.now())),
    });
    for (const tool of tools) {
      collected.add(tool);
      // Compiling a schema is work of this process, which has other work too.
      await nextTurn();
    }
    if (nextCursor === undefined) {
      return collected.listed();
    }
    if (cursors.has(nextCursor) || pages === toolLimits.pages) {
      throw collected.invalid(`its list of tools does not end after ${pages} pages`);
    }
    cursors.add(nextCursor);
    cursor = nextCursor;
  }
}

/** The tools of a server so far. */
class Collected {
  private readonly tools = new Map<string, DiscoveredTool>();
  private bytes = 0;
  private compiledMs = 0;
  private truncated = false;

  constructor(
    private readonly requesting: Requesting,
    private readonly definition: ToolServerDefinition,
  ) {}

  add(sent: SentTool): void {
    const { name } = sent;
    if (this.tools.has(name)) {
      throw this.invalid(`it has two tools with the name ${name}`);
    }
    if (this.tools.size === toolLimits.tools) {
      throw this.invalid(`it has more than ${toolLimits.tools} tools`);
    }
    for (const field of ['inputSchema', 'outputSchema'] as const) {
      const began = performance.now();
      const problem = sent[field] && schemaProblem(sent[field], { maxBytes: toolLimits.schemaBytes });
      this.compiledMs += performance.now() - began;
      if (this.compiledMs > toolLimits.compileMs) {
        throw this.invalid('the schemas of its tools take too long to compile');
      }
      if (problem !== undefined) {
        throw this.invalid(`the ${field} of its tool ${name} is not usable: ${problem}`);
      }
    }
    const tool = this.present(sent);
    this.bytes += Buffer.byteLength(JSON.stringify(tool));
    if (this.bytes > toolLimits.totalBytes) {
      throw this.invalid(`its tools have more than ${toolLimits.totalBytes} bytes`);
    }
    this.tools.set(name, tool);
  }

  listed(): ListedTools {
    const tools = [...this.tools.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    return { tools, truncated: this.truncated };
  }

  invalid(what: string): ToolServerError {
    const message = cut(this.requesting.redact(`The tool server ${this.definition.displayName}: ${what}.`), 1_000);
    const remedy = 'Correct the server, or disable its definition.';
    return new ToolServerError({ code: 'invalid-tools', message, remedy });
  }

  private present({ name, title, description, inputSchema, outputSchema, annotations }: SentTool): DiscoveredTool {
    const clean = (schema: Record<string, unknown> | undefined) => schema && this.withoutSecrets(schema);
    return {
      name,
      ...compact({
        title: title === undefined ? undefined : this.text(title, toolLimits.title),
        description: description === undefined ? undefined : this.text(description, toolLimits.description),
        outputSchema: clean(outputSchema),
        annotations: clean(annotations),
      }),
      inputSchema: this.withoutSecrets(inputSchema),
      policy: toolAccessOf(this.definition, name),
    };
  }

  private text(sent: string, max: number): string {
    const clean = printable(this.requesting.redact(sent));
    this.truncated ||= clean.length > max;
    return cut(clean, max);
  }

  private withoutSecrets(value: Record<string, unknown>): Record<string, unknown> {
    const json = JSON.stringify(value);
    const clean = this.requesting.redact(json);
    return clean === json ? value : (redactTexts(value, this.requesting.redact) as Record<string, unknown>);
  }
}

/** The same JSON value with every text and name redacted. Its depth is bounded by who read it. */
export function redactTexts(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'string') {
    return redact(value);
  }
  if (Array.isArray(value)) {
    return value.map((item) => redactTexts(item, redact));
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [redact(name), redactTexts(item, redact)]));
}
