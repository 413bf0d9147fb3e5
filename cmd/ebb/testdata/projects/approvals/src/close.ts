export const handler = async (event: object): Promise<object> => ({...event, close: true});
