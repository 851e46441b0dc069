import { apiUrlOf, gitUrlOf } from './forge-address';

const repository = 'acme/shop';

describe('the addresses of a forge', () => {
  it.each([
    ['github', undefined, 'https://api.github.com', 'https://github.com/acme/shop.git'],
    ['github', 'https://api.acme.ghe.com/', 'https://api.acme.ghe.com', 'https://acme.ghe.com/acme/shop.git'],
    ['github', 'https://code.acme.com/api/v3', 'https://code.acme.com/api/v3', 'https://code.acme.com/acme/shop.git'],
    ['gitlab', undefined, 'https://gitlab.com', 'https://gitlab.com/acme/shop.git'],
    ['gitlab', 'https://acme.com:8443/git/', 'https://acme.com:8443/git', 'https://acme.com:8443/git/acme/shop.git'],
  ] as const)('are found for %s at %s', (kind, baseUrl, api, push) => {
    const connection = { kind, repository, ...(baseUrl === undefined ? {} : { baseUrl }) };
    expect([apiUrlOf(connection), gitUrlOf(connection)]).toEqual([api, push]);
  });
});
