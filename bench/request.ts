/** Sends a request to a small service, which has no generated client; the text of its answer. @throws Error for any other than a success */
export async function request(url: string, init?: RequestInit): Promise<string> {
  const response = await fetch(url, init);
  const text = await response.text();
  if (!response.ok) {
    throw new Error(`${url} answered ${response.status} ${text}`);
  }
  return text;
}
