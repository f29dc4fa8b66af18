"""KDDCup99: which connection is an attack, as UCI publishes it (kddcup.data_10_percent)."""

import numpy as np

from dpcore.data.tabular.columns import Category, Number, spaced
from dpcore.data.tabular.delimited import Lines, Original

KEPT = 70_000  # rows, as many as in the paper
SERVICES = spaced(
    "aol auth bgp courier csnet_ns ctf daytime discard domain domain_u echo eco_i ecr_i efs exec finger ftp ftp_data "
    "gopher harvest hostnames http http_2784 http_443 http_8001 icmp imap4 IRC iso_tsap klogin kshell ldap link login "
    "mtp name netbios_dgm netbios_ns netbios_ssn netstat nnsp nntp ntp_u other pm_dump pop_2 pop_3 printer private "
    "red_i remote_job rje shell smtp sql_net ssh sunrpc supdup systat telnet tftp_u tim_i time urh_i urp_i uucp "
    "uucp_path vmnet whois X11 Z39_50"
)
COLUMNS = (
    Number("duration", 0, 60_000, log=True),
    Category("protocol_type", ("tcp", "udp", "icmp")),
    Category("service", SERVICES),
    Category("flag", spaced("OTH REJ RSTO RSTOS0 RSTR S0 S1 S2 S3 SF SH")),
    Number("src_bytes", 0, 1e9, log=True),
    Number("dst_bytes", 0, 1e9, log=True),
    Number("land", 0, 1),
    Number("wrong_fragment", 0, 3),
    Number("urgent", 0, 3),
    Number("hot", 0, 100, log=True),
    Number("num_failed_logins", 0, 5),
    Number("logged_in", 0, 1),
    Number("num_compromised", 0, 1000, log=True),
    Number("root_shell", 0, 1),
    Number("su_attempted", 0, 2),
    Number("num_root", 0, 1000, log=True),
    Number("num_file_creations", 0, 100, log=True),
    Number("num_shells", 0, 5),
    Number("num_access_files", 0, 10),
    Number("num_outbound_cmds", 0, 1),
    Number("is_host_login", 0, 1),
    Number("is_guest_login", 0, 1),
    Number("count", 0, 511),
    Number("srv_count", 0, 511),
    *(
        Number(name, 0, 1)
        for name in spaced(
            "serror_rate srv_serror_rate rerror_rate srv_rerror_rate same_srv_rate diff_srv_rate srv_diff_host_rate"
        )
    ),
    Number("dst_host_count", 0, 255),
    Number("dst_host_srv_count", 0, 255),
    *(
        Number(f"dst_host_{name}", 0, 1)
        for name in spaced(
            "same_srv_rate diff_srv_rate same_src_port_rate srv_diff_host_rate serror_rate srv_serror_rate rerror_rate "
            "srv_rerror_rate"
        )
    ),
)


def some(lines: Lines) -> Lines:
    """Rows at fixed random positions: which ones does not depend on what stands in them."""
    if len(lines) <= KEPT:
        return lines
    return [lines[place] for place in np.random.RandomState(0).permutation(len(lines))[:KEPT]]


KDDCUP99 = Original(
    name="kddcup99",
    title="KDDCup99",
    classes=("normal", "attack"),
    bound=6.5,
    origin="KDD Cup 1999, S. Hettich and S. D. Bay, UCI: 70,000 of the 494,021 rows of the tenth part",
    files=("kddcup.data_10_percent",),
    fields=(*(column.name for column in COLUMNS), "label"),
    columns=COLUMNS,
    words=(("normal", 0),),
    otherwise=1,
    chosen=some,
    openml=1113,
)
