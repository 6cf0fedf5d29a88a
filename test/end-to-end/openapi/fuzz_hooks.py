"""What schemathesis does not know by itself: MessagePack, and that fields are query parameters of binary bodies alone."""

import msgpack
import schemathesis


@schemathesis.serializer("application/msgpack", "application/x-msgpack")
def message_pack(ctx, value):
    try:
        return msgpack.packb(value)
    except (OverflowError, TypeError, UnicodeEncodeError):
        return b"\xc1"  # beyond what MessagePack can say: a byte that it never has


@schemathesis.hook
def before_call(context, case, kwargs):
    # Half of the bodies keep the parameters that do not belong to them.
    if case.media_type not in (None, "application/octet-stream") and case.query and len(str(case.body)) % 2:
        case.query = {}
