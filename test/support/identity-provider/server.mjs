/**
 * A provider of OpenID Connect (`oidc-provider`) on a free port of 127.0.0.1, as a process of its own: it is an ES module that
 * the test runner cannot load. Its parent sends the `{clients}` first, and then what accounts claim:
 * `{accounts: {<login>: {...claims}}}`. Anyone may sign in as any account.
 */
import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';

const accounts = new Map();
let respond = (_request, response) => response.writeHead(503).end();
const server = createServer((request, response) => respond(request, response));

const clientsOf = ({ clients }) =>
  clients.map((client) => ({
    grant_types: ['authorization_code'],
    response_types: ['code'],
    token_endpoint_auth_method: client.client_secret === undefined ? 'none' : 'client_secret_basic',
    ...client,
  }));

function configure(issuer, settings) {
  const provider = new Provider(issuer, {
    clients: clientsOf(settings),
    cookies: { keys: ['a key of this test'] },
    claims: { openid: ['sub'], profile: ['name'], email: ['email', 'email_verified'], groups: ['groups'] },
    scopes: ['openid', 'profile', 'email', 'groups'],
    features: {
      devInteractions: { enabled: true },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: { enabled: true },
    },
    // Its own refuses loopback addresses, where the service under test is.
    fetch: (url, { dispatcher: _dispatcher, ...options }) => fetch(url, options),
    pkce: { required: () => true },
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id, ...accounts.get(id) }) }),
  });
  respond = provider.callback();
}

process.on('message', (message) => {
  if (message.clients) {
    configure(`http://127.0.0.1:${server.address().port}`, message);
    process.send({ ready: true });
  } else {
    for (const [login, claims] of Object.entries(message.accounts)) {
      accounts.set(login, claims);
    }
    process.send({ accounts: Object.keys(message.accounts) });
  }
});
process.on('disconnect', () => process.exit(0));
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
