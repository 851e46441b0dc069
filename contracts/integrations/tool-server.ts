import { z } from 'zod';
import { digest, revision, slug, text, timestamp } from '../common';
import { namePattern } from '../name-pattern';
import { listPage, nextCursor } from '../query';
import { environmentKey, header, programArgs, programCommand, toolServerRequirement } from '../settings/tool-server';
import { webUrl } from '../url';

/** The name of a credential scope of the settings, through which a worker resolves a credential. */
export const credentialReference = slug;

const references = z
  .array(credentialReference)
  .max(16)
  .default([])
  .refine((names) => new Set(names).size === names.length, 'must not name a scope twice');

/** A header with the value of a variable of the worker, or of a credential scope. */
const referencedHeader = header.omit({ environmentKey: true }).extend({
  environmentKey: environmentKey.optional(),
  credentialReference: credentialReference.optional(),
});

const stdio = z.strictObject({
  kind: z.literal('stdio'),
  command: programCommand,
  args: programArgs,
  environmentKeys: z.array(environmentKey).max(64).default([]),
  /** The program is given the variable of each scope, under its own name. */
  credentialReferences: references,
});

const streamableHttp = z
  .strictObject({
    kind: z.literal('streamable-http'),
    url: webUrl,
    headers: z.array(referencedHeader).max(32).default([]),
    /** The scopes that headers name. */
    credentialReferences: references,
  })
  .superRefine(({ headers, credentialReferences }, context) => {
    headers.forEach(({ name, environmentKey: key, credentialReference: scope }, index) => {
      const path = ['headers', index];
      if ((key === undefined) === (scope === undefined)) {
        const message = 'exactly one of environmentKey, credentialReference is required';
        context.addIssue({ code: 'custom', path: [...path, 'environmentKey'], message });
      }
      if (scope !== undefined && !credentialReferences.includes(scope)) {
        const message = 'must be in credentialReferences';
        context.addIssue({ code: 'custom', path: [...path, 'credentialReference'], message });
      }
      if (ofProtocol.test(name)) {
        context.addIssue({ code: 'custom', path: [...path, 'name'], message: 'is set by the protocol' });
      }
    });
    credentialReferences.forEach((scope, index) => {
      if (!headers.some((each) => each.credentialReference === scope)) {
        const message = 'is used by no header';
        context.addIssue({ code: 'custom', path: ['credentialReferences', index], message });
      }
    });
  });

/** Headers that belong to HTTP or to the protocol, and not to who configures a server. */
const ofProtocol =
  /^(?:host|content-length|content-type|transfer-encoding|connection|upgrade|te|trailer|keep-alive|expect|accept|accept-encoding|last-event-id|mcp-.*|proxy-.*)$/i;

export const toolServerTransport = z.discriminatedUnion('kind', [stdio, streamableHttp]);

const patterns = z.array(namePattern).max(256);

const fields = {
  version: text(64, 1).default('1'),
  displayName: text(100, 1),
  enabled: z.boolean().default(true),
  transport: toolServerTransport,
  /** Whether a run does not begin without its tools. */
  requirement: toolServerRequirement.default('required'),
  /** How long it may take to start and to list its tools. */
  startupTimeoutMs: z.number().int().min(100).max(120_000).default(10_000),
  /** How long one call of a tool may take. */
  toolTimeoutMs: z.number().int().min(100).max(600_000).default(60_000),
  /** The tools that may be called: names, or beginnings of names with `*`; every other tool is denied. */
  allowedTools: patterns.default(['*']),
  /** Tools that are denied although `allowedTools` has them. */
  deniedTools: patterns.default([]),
  /** Tools of which every call needs the approval of a person. */
  approvalRequiredTools: patterns.default([]),
  /** `listed`: the calls of `approvalRequiredTools` need an approval; `always`: all calls do. */
  approvalMode: z.enum(['listed', 'always']).default('listed'),
};

/** Replaces a definition. */
export const toolServerWrite = z.strictObject(fields).meta({ id: 'ToolServerWrite' });
export type ToolServerWrite = z.infer<typeof toolServerWrite>;

/** Without an id, one is made. */
export const toolServerCreate = z.strictObject({ id: slug.optional(), ...fields }).meta({ id: 'ToolServerCreate' });
export type ToolServerCreate = z.infer<typeof toolServerCreate>;

/** A server of the Model Context Protocol whose tools runs may call (specification 2, Tool server definition). */
export const toolServerDefinition = z
  .object({
    schemaVersion: z.literal('tool-server-definition/v1'),
    id: slug,
    ...fields,
    revision,
    /** Of everything but the revision and the times. */
    digest,
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'ToolServerDefinition' });
export type ToolServerDefinition = z.infer<typeof toolServerDefinition>;

export const toolServerQuery = z.strictObject(listPage(100, 500)).meta({ id: 'ToolServerQuery' });

/** What the definition makes of calls of a tool. */
export const toolAccess = z.enum(['allowed', 'denied', 'approval-required']).meta({ id: 'ToolAccess' });
export type ToolAccess = z.infer<typeof toolAccess>;

const jsonObject = z.record(z.string(), z.unknown());

/** A tool as its server describes it: texts of the server are not to be trusted. */
export const discoveredTool = z
  .object({
    name: z.string(),
    title: z.string().optional(),
    description: z.string().optional(),
    inputSchema: jsonObject,
    outputSchema: jsonObject.optional(),
    annotations: jsonObject.optional(),
    policy: toolAccess,
  })
  .meta({ id: 'DiscoveredTool' });
export type DiscoveredTool = z.infer<typeof discoveredTool>;

export const toolDiscoveryRequest = z
  .strictObject({
    /** A live host; the one that a launch would likely take when absent. */
    hostId: z.string().min(1).max(200).optional(),
    /** Starts the server although its definition was discovered on the host before. */
    bypassCache: z.boolean().default(false),
  })
  .meta({ id: 'ToolDiscoveryRequest' });

export const toolServerErrorCode = z.enum([
  ...(['program-missing', 'start-failed', 'start-timeout', 'timeout', 'ended', 'backing-off', 'too-many'] as const),
  ...(['output-limit', 'protocol-error', 'refused', 'invalid-tools', 'refused-address', 'unavailable'] as const),
  ...(['credential-missing', 'aborted'] as const),
]);
export type ToolServerErrorCode = z.infer<typeof toolServerErrorCode>;

export const toolDiscovery = z
  .object({
    serverId: slug,
    definitionDigest: digest,
    hostId: z.string(),
    state: z.enum(['ready', 'failed']),
    /** As it introduced itself; `null` where it did not come to that. */
    server: z.object({ name: z.string(), version: z.string() }).nullable(),
    tools: z.array(discoveredTool),
    /** Whether descriptions or titles were cut to their longest size. */
    truncated: z.boolean(),
    error: z.object({ code: toolServerErrorCode, message: z.string(), remedy: z.string() }).optional(),
    discoveredAt: timestamp,
    /** Whether an earlier discovery of the same definition was returned. */
    cached: z.boolean(),
  })
  .meta({ id: 'ToolDiscovery' });
export type ToolDiscovery = z.infer<typeof toolDiscovery>;

/** What the last discovery of the definition found on one host. */
const hostHealth = toolDiscovery
  .pick({ hostId: true, state: true, server: true, error: true })
  .extend({ toolCount: z.number().int(), checkedAt: timestamp });

/** A definition with its health: the last discovery of exactly this definition on each host. */
export const toolServerView = toolServerDefinition
  .extend({
    health: z.object({
      /** `unknown`: it was discovered on no host; `degraded`: it failed on some of them. */
      state: z.enum(['unknown', 'ready', 'degraded', 'failed']),
      hosts: z.array(hostHealth),
    }),
  })
  .meta({ id: 'ToolServerView' });
export type ToolServerView = z.infer<typeof toolServerView>;

export const toolServerList = z.object({ servers: z.array(toolServerDefinition), nextCursor }).meta({
  id: 'ToolServerList',
});
