import { z } from 'zod';
import { attemptId, digest, slug, taskId, timestamp } from '../common';
import { toolServerRequirement } from '../settings/tool-server';
import { discoveredTool } from './tool-server';

/** A tool of a catalog: as it was discovered, with the digests that a call is checked against. */
export const catalogTool = discoveredTool.extend({ inputSchemaDigest: digest, outputSchemaDigest: digest.optional() });
export type CatalogTool = z.infer<typeof catalogTool>;

/** A tool server of a run. */
export const catalogServer = z.object({
  serverId: slug,
  definitionDigest: digest,
  displayName: z.string(),
  requirement: toolServerRequirement,
  /** `degraded`: it is optional, and could not be discovered when the run was launched: none of its tools can be called. */
  state: z.enum(['ready', 'degraded']),
  /** Why it is degraded. */
  reason: z.object({ code: z.string(), message: z.string(), remedy: z.string() }).optional(),
  tools: z.array(catalogTool),
});
export type CatalogServer = z.infer<typeof catalogServer>;

/** The tools of one attempt: compiled once, before its agent is started, and never changed. */
export const toolCatalog = z
  .object({
    schemaVersion: z.literal('run-tool-catalog/v1'),
    taskId,
    attemptId,
    hostId: z.string(),
    createdAt: timestamp,
    servers: z.array(catalogServer),
    /** Of the servers with their tools, without the attempt and the reasons: two launches with the same tools have the same. */
    digest,
  })
  .meta({ id: 'ToolCatalog' });
export type ToolCatalog = z.infer<typeof toolCatalog>;
