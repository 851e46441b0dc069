import { z } from 'zod';
import { slug, text } from '../common';
import { webUrl } from '../url';
import { withheldBecause } from './withheld-variables';

/** The name of an environment variable that programs may be given; values are never stored. */
export const environmentKey = z
  .string()
  .max(128)
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/)
  .superRefine((name, context) => {
    const reason = withheldBecause(name);
    if (reason !== undefined) {
      context.addIssue({ code: 'custom', message: `${name} ${reason}; agents are not given it` });
    }
  });

/** A header whose value is that of a variable of the worker, after a prefix such as `Bearer `. */
export const header = z.strictObject({
  name: z
    .string()
    .max(200)
    .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'must be the name of a header'),
  environmentKey,
  prefix: text(100).optional(),
});

/** Whether no run begins without the server. One that is optional is left out where it cannot be had. */
export const toolServerRequirement = z.enum(['required', 'optional']);
/** `required` when absent. */
const requirement = toolServerRequirement.optional();

/** A program and its arguments, which no shell reads. */
export const programCommand = text(4096, 1);
export const programArgs = z.array(text(8192)).max(64).default([]);

const remote = { name: slug, url: webUrl, headers: z.array(header).max(32).default([]), requirement };

/** A server of the Model Context Protocol that an `acp` agent is given; its credentials are names of variables of the worker. */
export const toolServer = z
  .discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('stdio'),
      name: slug,
      command: programCommand,
      args: programArgs,
      environmentKeys: z.array(environmentKey).max(64).default([]),
      requirement,
    }),
    z.strictObject({ type: z.literal('http'), ...remote }),
    z.strictObject({ type: z.literal('sse'), ...remote }),
  ])
  .meta({ id: 'ToolServer' });
export type ToolServer = z.infer<typeof toolServer>;

/** The variables of the worker that a tool server is given. */
export const toolServerKeys = (server: ToolServer): string[] =>
  server.type === 'stdio' ? server.environmentKeys : server.headers.map((each) => each.environmentKey);

/** The ids of tool servers of the board, each once. */
export const namedToolServers = z
  .array(slug)
  .max(32)
  .refine((ids) => new Set(ids).size === ids.length, 'must not name a tool server twice');
