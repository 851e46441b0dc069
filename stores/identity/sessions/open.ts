import type { Database } from '../../port/collection';
import { openTogether } from '../../port/open-together';
import { createOidcStore } from '../oidc-store';
import { createGuessStore } from './guess-store';
import { createPasswordStore } from './password-store';
import { openSessionSecrets } from './session-secret-store';
import { createSessionStore } from './session-store';
import { createSetupCodeStore } from './setup-code-store';
import { createWsTicketStore } from './ws-ticket-store';

/** Opens the stores of signing in: passwords, sessions, and what guards them. Only the api has them. */
export const openSessionStores = (database: Database) =>
  openTogether({
    guesses: createGuessStore(database),
    oidc: createOidcStore(database),
    passwords: createPasswordStore(database),
    sessions: createSessionStore(database),
    sessionSecrets: openSessionSecrets(database),
    setupCodes: createSetupCodeStore(database),
    wsTickets: createWsTicketStore(database),
  });

export type SessionStores = Awaited<ReturnType<typeof openSessionStores>>;
