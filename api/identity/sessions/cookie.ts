import type { ApiEnvironment } from '../../../platform/config/part-settings';
import { sessionCookie } from '../../../platform/http/auth/credentials';

export interface CookieOptions {
  /** Whether it is sent over TLS only, and to this machine. */
  secure: boolean;
}

/** Whether cookies of sessions are sent over TLS only: in production, and where browsers reach the API over TLS. */
export const usesSecureCookies = ({
  NODE_ENV: mode,
  BOARD_PUBLIC_URL: url,
}: Pick<ApiEnvironment, 'NODE_ENV' | 'BOARD_PUBLIC_URL'>): boolean =>
  mode === 'production' || url?.startsWith('https:') === true;

const attributes = ({ secure }: CookieOptions): string =>
  `Path=/; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`;

/** The `Set-Cookie` header of a session. */
export const sessionCookieHeader = (token: string, expiresIn: number, options: CookieOptions): string =>
  `${sessionCookie}=${token}; Max-Age=${expiresIn}; ${attributes(options)}`;

/** The `Set-Cookie` header that makes a browser forget its session. */
export const noSessionCookie = (options: CookieOptions): string =>
  `${sessionCookie}=; Max-Age=0; ${attributes(options)}`;
