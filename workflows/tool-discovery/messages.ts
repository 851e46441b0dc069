import type { Signed } from '../message-proofs';

/** A tool server to discover on a host; its definition is read from the stores there. */
export interface DiscoveredServer {
  hostId: string;
  serverId: string;
  /** The definition that the caller knows: one that was changed meanwhile is not started. */
  definitionDigest: string;
  /** When it was requested: what was discovered later is the result of this request. */
  requestedAt: string;
}

export interface ToolDiscoveryInput extends DiscoveredServer, Signed {
  /** How soon a worker that died is noticed, in milliseconds. */
  heartbeatTimeoutMs: number;
}

/** One discovery of a definition on a host at a time: concurrent requests join it. */
export const toolDiscoveryId = ({ hostId, serverId, definitionDigest }: DiscoveredServer): string =>
  `tool-discovery/${hostId}/${serverId}/${definitionDigest.slice(7, 31)}`;
