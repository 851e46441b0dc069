import type { TeamChatAdapter } from '../../contracts/chat/adapter';

type Destination = Pick<TeamChatAdapter, 'kind' | 'destinationType' | 'tenantId' | 'teamId' | 'channelId'>;

/** Where people read what is sent to a team chat; `null` where the ids do not name it. */
export function destinationUrl({ kind, destinationType, tenantId, teamId, channelId }: Destination): string | null {
  if (channelId === null) {
    return null;
  }
  const channel = encodeURIComponent(channelId);
  if (kind === 'slack') {
    return teamId === null ? null : `https://app.slack.com/client/${encodeURIComponent(teamId)}/${channel}`;
  }
  const tenant = tenantId === null ? '' : `tenantId=${encodeURIComponent(tenantId)}`;
  if (destinationType === 'chat') {
    return `https://teams.microsoft.com/l/chat/${channel}/0${tenant && `?${tenant}`}`;
  }
  if (teamId === null) {
    return null;
  }
  const query = [`groupId=${encodeURIComponent(teamId)}`, ...(tenant === '' ? [] : [tenant])].join('&');
  return `https://teams.microsoft.com/l/channel/${channel}/Channel?${query}`;
}

/** A URL without what may be secret of it: only where it leads. */
export function redactedUrl(url: string): string {
  const { origin, pathname, search, protocol, host } = new URL(url);
  const where = origin === 'null' ? `${protocol}//${host}` : origin;
  return pathname === '/' && search === '' ? where : `${where}/[REDACTED]`;
}
