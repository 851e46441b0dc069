const name = 'runboard.access-key';

/** The API key or token that this tab signs in with instead of a session; it ends with the tab. */
export const accessKey = (): string | undefined => sessionStorage.getItem(name) ?? undefined;

export function setAccessKey(key: string | undefined): void {
  if (key === undefined) {
    sessionStorage.removeItem(name);
  } else {
    sessionStorage.setItem(name, key);
  }
}
