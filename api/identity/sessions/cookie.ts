import { sessionCookie } from '../../../platform/http/auth/credentials';

export interface CookieOptions {
  /** Whether it is sent over TLS only, and to this machine. */
  secure: boolean;
  /** `Lax` where a page of another site leads to the sign-in; a link from there then arrives with the cookie. */
  sameSite?: 'Strict' | 'Lax';
}

const attributes = ({ secure, sameSite = 'Strict' }: CookieOptions): string =>
  `Path=/; HttpOnly; SameSite=${sameSite}${secure ? '; Secure' : ''}`;

/** The `Set-Cookie` header of a session. */
export const sessionCookieHeader = (token: string, expiresIn: number, options: CookieOptions): string =>
  `${sessionCookie}=${token}; Max-Age=${expiresIn}; ${attributes(options)}`;

/** The `Set-Cookie` header that makes a browser forget its session. */
export const noSessionCookie = (options: CookieOptions): string =>
  `${sessionCookie}=; Max-Age=0; ${attributes(options)}`;
