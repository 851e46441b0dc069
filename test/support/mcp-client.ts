import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';

/** A client of the board's tools, as the official SDK has it. */
export class ToolClient {
  private constructor(readonly client: Client) {}

  static async connect(transport: Transport): Promise<ToolClient> {
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(transport);
    return new ToolClient(client);
  }

  /** Over HTTP, at the address of a board. */
  static overHttp(url: string, headers: Record<string, string> = {}, query = ''): Promise<ToolClient> {
    const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp${query}`), { requestInit: { headers } });
    return ToolClient.connect(transport);
  }

  async names(): Promise<string[]> {
    return (await this.client.listTools()).tools.map(({ name }) => name);
  }

  /** The text of a result, and whether it is an error. */
  async result(name: string, values: Record<string, unknown> = {}): Promise<{ isError: boolean; text: string }> {
    const { content, isError = false } = (await this.client.callTool({ name, arguments: values })) as CallToolResult;
    const [first] = content;
    return { isError, text: first?.type === 'text' ? first.text : '' };
  }

  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into results of every shape
  async ok(name: string, values: Record<string, unknown> = {}): Promise<any> {
    const { isError, text } = await this.result(name, values);
    if (isError) {
      throw new Error(`${name}: ${text}`);
    }
    return JSON.parse(text);
  }

  close = (): Promise<void> => this.client.close();
}
