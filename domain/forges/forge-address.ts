import type { ForgeConnection } from '../../contracts/integrations/forge';

type Located = Pick<ForgeConnection, 'kind' | 'baseUrl' | 'repository'>;

const usual = { github: 'https://api.github.com', gitlab: 'https://gitlab.com' } as const;

/** The address that the client of a forge calls. */
export const apiUrlOf = ({ kind, baseUrl = usual[kind] }: Omit<Located, 'repository'>): string =>
  baseUrl.replace(/\/+$/, '');

/** The address that git pushes to: beside the API, without a user name. */
export function gitUrlOf({ repository, ...located }: Located): string {
  const url = new URL(apiUrlOf(located));
  if (located.kind === 'github') {
    url.hostname = url.hostname.replace(/^api\.(?=github\.com$|[a-z0-9-]+\.ghe\.com$)/, '');
    url.pathname = url.pathname.replace(/\/api\/v3$/, '');
  }
  return `${url.href.replace(/\/+$/, '')}/${repository}.git`;
}
