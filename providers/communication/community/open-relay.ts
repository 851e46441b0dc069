import { httpRelay } from './http-relay';
import type { CommunityRelay, RelaySettings } from './relay';
import { webSocketRelay } from './websocket-relay';

/** A relay over its WebSocket where it has one, and over HTTP where it has none. */
export function openRelay(settings: RelaySettings): CommunityRelay {
  const { webSocketUrl } = settings;
  return webSocketUrl === null ? httpRelay(settings) : webSocketRelay({ ...settings, webSocketUrl });
}
